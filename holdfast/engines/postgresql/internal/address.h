#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/internal/libpq.h>
#include <holdfast/engines/postgresql/postgres_options.h>

namespace holdfast::engines::postgresql::internal {

// The servers and our login, in libpq's words.
//
// Thread-safe: constant.
class Address {
 public:
  // Loads libpq, which understands the options.
  [[nodiscard]] static base::Result<Address> make(const PostgresOptions& options);

  // Returns how many hosts there are to try, one by one: libpq would give each its own time only in
  // calls that block.
  [[nodiscard]] std::size_t hosts() const noexcept { return hosts_.size(); }
  // Returns what libpq takes to connect to one of them.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> parameters(std::size_t host) const;

  [[nodiscard]] const Libpq& libpq() const noexcept { return *libpq_; }

 private:
  using Words = std::vector<std::pair<std::string, std::string>>;

  explicit Address(const Libpq& libpq) noexcept : libpq_(&libpq) {}

  const Libpq* libpq_;
  Words common_;
  std::vector<Words> hosts_;  // at least one
};

}  // namespace holdfast::engines::postgresql::internal
