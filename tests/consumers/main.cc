#include <cstdlib>
#include <iostream>

#include <holdfast/local/key_lock.h>

int main() {
  holdfast::local::KeyLock locks;
  auto guard = locks.lock("invoice:42");

  if (locks.try_lock("invoice:42")) {
    std::cerr << "a held key was locked again\n";
    return EXIT_FAILURE;
  }
  if (!locks.try_lock("invoice:43")) {
    std::cerr << "another key was not free\n";
    return EXIT_FAILURE;
  }
  guard.unlock();
  if (!locks.try_lock("invoice:42")) {
    std::cerr << "a released key was not free\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
