#include "scene.h"

int main() {
  using namespace holdfast::demo;
  fmt::print("Holdfast: locks for C++. What follows happens as you read it.\n");
  threads_contend_per_key();
  readers_beside_readers();
  an_urgent_waiter_goes_ahead();
  a_lease_expires();
  zombies_are_swept();
  fmt::print(
      "\nEverything was as promised. Next: README.md, examples/, build/release/bin/bench_local\n");
}
