// A fixed window lets a double burst pass at its edge; a sliding window does not. The clock is a
// ManualClock, so this takes no time.
#include <holdfast/recipes/throttle.h>

#include <cstdlib>
#include <iostream>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>

using namespace std::chrono_literals;
using holdfast::recipes::Throttle;
using holdfast::store::Window;

namespace {

// Returns how many of sixteen calls pass within one second, where five are allowed in ten seconds.
int burst_at_the_edge(Window window) {
  holdfast::base::ManualClock clock;
  const auto store = std::make_shared<holdfast::engines::memory::MemoryStore>(
      holdfast::engines::memory::MemoryOptions{.clock = &clock, .sweep_every = 0s});
  Throttle calls(store, {.limit = 5, .period = 10s, .window = window, .clock = &clock});
  int passed = calls.try_pass("api").value() ? 0 : -1;  // the window begins
  clock.advance(9s);
  for (int i = 0; i < 8; ++i) passed += calls.try_pass("api").value() ? 1 : 0;
  clock.advance(1s);
  for (int i = 0; i < 8; ++i) passed += calls.try_pass("api").value() ? 1 : 0;
  return passed;
}

}  // namespace

int main() {
  const int fixed = burst_at_the_edge(Window::fixed);
  const int sliding = burst_at_the_edge(Window::sliding);
  std::cout << "fixed: " << fixed << " in one second; sliding: " << sliding << '\n';
  return fixed == 9 && sliding == 5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
