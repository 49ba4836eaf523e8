#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/base/error.h>

#include "apps/holdfast/serve/snapshot.h"
#include "apps/holdfast/serve/target.h"

namespace holdfast::cli::serve {

// The part of all names that a client wants to see.
struct NamesQuery {
  static constexpr std::size_t kMostNames = 500;

  enum class Order : std::uint8_t { name, held, left, waiters };

  std::string prefix{};
  std::string search{};  // in the name, an owner or a reason, in lower case
  std::string kind{};
  bool waited = false;  // only names with waiters
  Order order = Order::name;
  std::size_t offset = 0;
  std::size_t limit = 100;

  [[nodiscard]] static base::Result<NamesQuery> parse(const Target& target);
};

// The entries of a snapshot that a query asks for, as places in Snapshot::entries.
struct Selection {
  std::size_t total = 0;              // that match
  std::vector<std::size_t> places{};  // from the offset, up to the limit
};

[[nodiscard]] Selection select(const Snapshot& snapshot, const NamesQuery& query);

}  // namespace holdfast::cli::serve
