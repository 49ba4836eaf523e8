#pragma once

#include <string>

#include <holdfast/base/error.h>
#include <holdfast/objects/object.h>

namespace bank {

// An account. It needs no lock of its own: its type is registered as serial, and `together`
// excludes other callers.
class Account : public holdfast::objects::Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override {
    return {{"balance", balance_}, {"sent", sent_}};
  }
  void from_data(const nlohmann::json& data) override {
    data.at("balance").get_to(balance_);
    data.at("sent").get_to(sent_);
  }

  void deposit(long amount) { balance_ += amount; }
  // Withdraws the amount and counts the transfer. After an error nothing has changed.
  holdfast::base::Result<void> send(long amount) {
    if (amount > balance_) {
      return holdfast::base::fail(holdfast::base::ErrorCode::conflict,
                                  std::string(id()) + " has only " + std::to_string(balance_));
    }
    balance_ -= amount;
    ++sent_;
    return {};
  }
  [[nodiscard]] long balance() const { return balance_; }
  // Returns how many transfers have left this account.
  [[nodiscard]] long sent() const { return sent_; }

 private:
  long balance_ = 0;
  long sent_ = 0;
};

}  // namespace bank
