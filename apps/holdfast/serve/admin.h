#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/serve/audit_log.h"
#include "apps/holdfast/serve/message.h"
#include "apps/holdfast/serve/target.h"
#include "apps/holdfast/serve/watcher.h"

namespace holdfast::cli::serve {

// The changes that a server allows to requests with its token: POST /api/v1/steal, clear and reset
// with `name`. The body says the name once more, as {"confirm": NAME}.
//
// A page of another site cannot send such a request: it does not know the token, which no cookie
// has, and browsers ask before they send its header or a JSON body to another site.
//
// Thread-safe. Blocks while it asks the store, in Work.
class Admin {
 public:
  // Called with what was done, or refused, and to which name: one line for the audit log.
  using Audit = std::function<void(AuditLog::Kind kind, std::string_view line)>;

  Admin(std::shared_ptr<store::LeaseStore> store, Watcher& watcher, std::string token, Audit audit);

  [[nodiscard]] static bool knows(std::string_view path);
  [[nodiscard]] Answer answer(const Request& request, const Target& target) const;

 private:
  using Change = Response (Admin::*)(const std::string& name) const;
  static Change find_change(std::string_view path);

  [[nodiscard]] Response steal(const std::string& name) const;
  [[nodiscard]] Response clear(const std::string& name) const;
  [[nodiscard]] Response reset(const std::string& name) const;
  // Answers a change that failed, or may have, with a line in the log.
  [[nodiscard]] Response failed(std::string_view change, const base::Error& error) const;

  const std::shared_ptr<store::LeaseStore> store_;
  Watcher& watcher_;
  const std::string token_;
  const Audit audit_;
};

// Reads the token of a file that only its owner may read. It has at least 16 characters.
[[nodiscard]] base::Result<std::string> read_admin_token(const std::string& file);

}  // namespace holdfast::cli::serve
