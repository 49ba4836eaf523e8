#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/base/ids.h>

namespace holdfast::tests {

// One who writes to a guarded resource. For one thread.
class Writer {
 public:
  virtual ~Writer() = default;
  // Returns whether the token was accepted and the value written.
  virtual bool write(base::FencingToken token, const std::string& value) = 0;
};

// A value that a guard of holdfast::fence protects, and its writers.
class GuardedResource {
 public:
  virtual ~GuardedResource() = default;
  [[nodiscard]] virtual std::unique_ptr<Writer> writer() = 0;
  [[nodiscard]] virtual std::string read() = 0;
  // The guard's process, or server, ends and starts again. Writers from before are of no use.
  virtual void restart() = 0;
};

struct Guard {
  std::string name;
  std::function<std::unique_ptr<GuardedResource>()> make_resource;
};

[[nodiscard]] std::unique_ptr<GuardedResource> make_process_resource();
[[nodiscard]] std::unique_ptr<GuardedResource> make_file_resource();
[[nodiscard]] std::unique_ptr<GuardedResource> make_sqlite_rows_resource();
[[nodiscard]] std::unique_ptr<GuardedResource> make_sqlite_table_resource();
[[nodiscard]] std::unique_ptr<GuardedResource> make_postgresql_rows_resource();
[[nodiscard]] std::unique_ptr<GuardedResource> make_postgresql_table_resource();
[[nodiscard]] std::unique_ptr<GuardedResource> make_redis_resource();

}  // namespace holdfast::tests
