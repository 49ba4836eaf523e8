#pragma once

namespace holdfast::engines::redis::internal {

// Rouses a thread from poll(). Thread-safe. Throws std::system_error if there is no descriptor
// left.
class Doorbell {
 public:
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Readable from a ring() until the next clear().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  void ring() const noexcept;
  void clear() const noexcept;

 private:
  const int descriptor_;
};

}  // namespace holdfast::engines::redis::internal
