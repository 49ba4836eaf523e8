#pragma once

#include <filesystem>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/objects/object_host.h>

namespace bank {

// A bank: accounts in a file, and transfers between them.
class Bank {
 public:
  // Throws base::Exception if the file cannot be opened.
  explicit Bank(const std::filesystem::path& file);

  // Pays in; the money is stored when this returns.
  void pay_in(const std::string& account, long amount);
  // Transfers atomically: half a transfer is never stored, whenever the process ends. Fails with
  // conflict if there is not enough money; then nothing has changed.
  [[nodiscard]] holdfast::base::Result<void> transfer(const std::string& from,
                                                      const std::string& to, long amount);
  [[nodiscard]] long balance(const std::string& account);
  [[nodiscard]] long sent(const std::string& account);

 private:
  holdfast::objects::ObjectHost host_;
};

}  // namespace bank
