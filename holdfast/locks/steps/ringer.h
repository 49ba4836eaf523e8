#pragma once

namespace holdfast::locks::steps {

// How a procedure that waits is told that something may have changed. Rung while nobody waits, it
// ends the next wait at once; rung several times, it counts once.
//
// Any thread rings, also under a mutex: `ring` is quick and calls nobody back.
class Ringer {
 public:
  Ringer() = default;
  Ringer(const Ringer&) = delete;
  Ringer& operator=(const Ringer&) = delete;

  virtual void ring() noexcept = 0;

 protected:
  ~Ringer() = default;
};

}  // namespace holdfast::locks::steps
