#pragma once

#include <holdfast/base/lease_provider.h>
#include <holdfast/local/lease_table.h>

namespace holdfast::local {

// A LeaseTable behind the interface for leases of any kind. Thread-safe; the table, whose promises
// it keeps, must outlive it. Use the table itself where no other store is ever meant: it is faster.
//
//   LeaseTable table;
//   TableLeaseProvider locks(table);
class TableLeaseProvider final : public base::LeaseProvider {
 public:
  explicit TableLeaseProvider(LeaseTable& table) noexcept : table_(table) {}

  [[nodiscard]] base::Result<std::optional<base::FencingToken>> try_lock(std::string_view key,
                                                                         std::string_view owner,
                                                                         base::Ttl ttl) override {
    return table_.try_lock(key, owner, ttl);
  }
  base::Result<base::FencingToken> renew(std::string_view key, std::string_view owner,
                                         base::Ttl ttl) override {
    return table_.renew(key, owner, ttl);
  }
  base::Result<void> unlock(std::string_view key) override { return table_.unlock(key); }
  base::Result<void> unlock(std::string_view key, std::string_view owner) override {
    return table_.unlock(key, owner);
  }
  base::Result<void> unlock(std::string_view key, base::FencingToken token) override {
    return table_.unlock(key, token);
  }
  [[nodiscard]] base::Result<bool> is_locked_by(std::string_view key,
                                                std::string_view owner) override {
    return table_.is_locked_by(key, owner);
  }
  [[nodiscard]] base::Result<bool> is_lock_expired(std::string_view key) override {
    return table_.is_lock_expired(key);
  }
  [[nodiscard]] base::Result<std::optional<base::Duration>> time_left(
      std::string_view key) override {
    return table_.time_left(key);
  }

 private:
  LeaseTable& table_;
};

}  // namespace holdfast::local
