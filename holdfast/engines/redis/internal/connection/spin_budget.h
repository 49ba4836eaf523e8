#pragma once

#include <algorithm>

namespace holdfast::engines::redis::internal {

// Decides if a caller spins for a short time before it sleeps: a sleeping core wakes slowly, so
// spinning spares a near server's reply more than it costs. If it does not pay, because the server
// is far or shares the core, spinning stops, but for one attempt in many that finds out if it would
// pay again.
//
// Pure. Not thread-safe.
class SpinBudget {
 public:
  enum class Cores : bool { one, several };
  explicit SpinBudget(Cores cores) noexcept : useful_(cores == Cores::several) {}

  [[nodiscard]] bool should_spin() noexcept {
    if (!useful_) {
      return false;
    }
    if (credit_ > 0) {
      return true;
    }
    if (++skipped_ < kProbeEvery) {
      return false;
    }
    skipped_ = 0;
    return true;
  }

  void succeeded() noexcept { credit_ = std::min(credit_ + 1, kMostCredit); }
  // Costs as much as several successes earn: a failure burns the whole spin, a success spares less.
  void failed() noexcept { credit_ = std::max(credit_ - kPrice, 0); }

 private:
  static constexpr int kMostCredit = 16;
  static constexpr int kPrice = 4;
  static constexpr int kProbeEvery = 64;

  const bool useful_;
  int credit_ = kMostCredit;
  int skipped_ = 0;
};

}  // namespace holdfast::engines::redis::internal
