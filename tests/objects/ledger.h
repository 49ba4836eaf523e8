#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <holdfast/engines/sqlite/sqlite_repository.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/objects/object_host.h>

namespace holdfast::tests {

// An object that remembers every entry that was made, by a name of its own: a lost update is an
// entry that is missing.
class Ledger : public objects::Object {
 public:
  // Called in this process at these points, so that a test can stop it there.
  static inline std::function<void()> before_entry;
  static inline std::function<void()> after_to_data;

  [[nodiscard]] nlohmann::json to_data() const override {
    nlohmann::json data = entries_;
    if (after_to_data) after_to_data();
    return data;
  }
  void from_data(const nlohmann::json& data) override { data.get_to(entries_); }

  void enter(const std::string& entry) {
    if (before_entry) before_entry();
    entries_.insert(entry);
  }
  [[nodiscard]] std::set<std::string> entries() const { return entries_; }

 private:
  std::set<std::string> entries_;
};

// A host of ledgers in one file with their leases, as one process would have it.
class LedgerHost {
 public:
  LedgerHost(const std::filesystem::path& file, std::string owner, objects::SaveWhen save)
      : provider_(base::value_or_throw(engines::sqlite::open_store({.file = file})),
                  {.owner = std::move(owner)}),
        host_(base::value_or_throw(engines::sqlite::open_repository({.file = file})),
              {.ownership = {.provider = &provider_,
                             .ttl = std::chrono::seconds(1),
                             .wait = std::chrono::seconds(60)},
               .key_wait = std::chrono::seconds(120),
               .store_wait = std::chrono::seconds(60),
               .save_every = std::nullopt}) {
    host_.register_type<Ledger>("ledger", {.calls = objects::Calls::serial, .save = save});
  }
  objects::ObjectHost& operator*() { return host_; }
  objects::ObjectHost* operator->() { return &host_; }

 private:
  locks::LockProvider provider_;
  objects::ObjectHost host_;
};

}  // namespace holdfast::tests
