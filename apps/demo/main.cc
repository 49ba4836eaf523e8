#include "scene.h"

int main() {
  using namespace holdfast::demo;
  fmt::print("Holdfast: locks for C++. Everything below is running live.\n");
  threads_contend_per_key();
  readers_share();
  an_urgent_waiter_goes_ahead();
  a_lease_expires();
  expired_leases_are_swept();
  fmt::print("\nAll checks passed. Next: README.md, examples/, build/release/bin/bench_local\n");
}
