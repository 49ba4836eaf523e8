#pragma once

#include <optional>

#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli::torture {

// The first signal that has asked this process to end. Those after it are taken too: they must not
// end it before it has reported.
class EndRequest {
 public:
  explicit EndRequest(const Signals& signals) : signals_(signals) {}
  ~EndRequest() { look(); }
  EndRequest(const EndRequest&) = delete;
  EndRequest& operator=(const EndRequest&) = delete;

  // Readable when look() may find something.
  [[nodiscard]] int descriptor() const noexcept { return signals_.descriptor(); }
  // Takes the signals that have come. Returns the first that asked to end, of all times.
  std::optional<int> look() {
    while (const auto signal = signals_.next()) {
      if (!asked_ && signals_.asks_to_end(*signal)) {
        asked_ = signal;
      }
    }
    return asked_;
  }

 private:
  const Signals& signals_;
  std::optional<int> asked_;
};

}  // namespace holdfast::cli::torture
