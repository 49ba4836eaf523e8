#pragma once

#include <filesystem>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/objects/object_host.h>

namespace bank {

// Accounts in a file, transfers between them.
class Bank {
 public:
  // Throws base::Exception where the file cannot be opened.
  explicit Bank(const std::filesystem::path& file);

  // Paid in, and stored when this returns.
  void pay_in(const std::string& account, long amount);
  // From one account to the other, as one: what is stored is never half a transfer, whenever the
  // process ends. conflict: there is not enough; nothing has changed.
  [[nodiscard]] holdfast::base::Result<void> transfer(const std::string& from,
                                                      const std::string& to, long amount);
  [[nodiscard]] long balance(const std::string& account);
  [[nodiscard]] long sent(const std::string& account);

 private:
  holdfast::objects::ObjectHost host_;
};

}  // namespace bank
