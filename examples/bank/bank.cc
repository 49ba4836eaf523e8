#include <holdfast/engines/sqlite/sqlite_repository.h>

#include "examples/bank/account.h"
#include "examples/bank/bank.h"

namespace bank {

using holdfast::base::Result;
using holdfast::base::value_or_throw;
using holdfast::objects::Calls;

Bank::Bank(const std::filesystem::path& file)
    : host_(value_or_throw(holdfast::engines::sqlite::open_repository({.file = file}))) {
  host_.register_type<Account>("account", {.calls = Calls::serial})
      .method<&Account::balance>("balance")
      .method<&Account::sent>("sent");
}

void Bank::pay_in(const std::string& account, long amount) {
  value_or_throw(host_.call<&Account::deposit>(account, amount));
  value_or_throw(host_.save<Account>(account));
}

Result<void> Bank::transfer(const std::string& from, const std::string& to, long amount) {
  return host_.together<Account, Account>(
      {from, to}, [amount](Account& source, Account& target) -> Result<void> {
        // The wrong order on purpose: if the sender has too little, the host undoes the deposit.
        target.deposit(amount);
        return source.send(amount);
      });
}

long Bank::balance(const std::string& account) {
  return value_or_throw(host_.call<&Account::balance>(account));
}

// Calls by name, as a caller from another program would.
long Bank::sent(const std::string& account) {
  return value_or_throw(host_.call_as<long>("account", account, "sent"));
}

}  // namespace bank
