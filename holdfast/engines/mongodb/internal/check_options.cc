#include <holdfast/engines/mongodb/internal/check_options.h>

#include <algorithm>
#include <cctype>
#include <string>

#include <holdfast/engines/mongodb/internal/id_space.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::Duration;
using store::LeaseStore;

std::string problem_of(const MongoOptions& options) {
  if (!options.uri.starts_with("mongodb://") && !options.uri.starts_with("mongodb+srv://")) {
    return "the uri begins with neither mongodb:// nor mongodb+srv://";
  }
  if (options.database.empty() || options.database.size() > 63 ||
      options.database.find_first_of(std::string_view("/\\. \"$*<>:|?\0", 13)) !=
          std::string::npos) {
    return "the database's name is empty, longer than 63 bytes, or has one of /\\. \"$*<>:|? in it";
  }
  for (const std::string& collection : {options.collection, options.objects}) {
    if (collection.empty() || collection.size() > 128 || collection.starts_with("system.") ||
        collection.find_first_of(std::string_view("$\0", 2)) != std::string::npos) {
      return "a collection's name is empty, longer than 128 bytes, begins with system. or has a $ "
             "in it";
    }
  }
  if (options.collection == options.objects) {
    return "locks and objects are in the same collection";
  }
  if (IdSpace::valid_beginning(options.prefix).size() != options.prefix.size()) {
    return "the prefix is not valid UTF-8";
  }
  const std::string& concern = options.write_concern;
  const bool is_number =
      std::ranges::all_of(concern, [](unsigned char c) { return std::isdigit(c); });
  if (concern.empty() || (is_number && (concern.size() > 3 || std::stoi(concern) == 0))) {
    return "the write concern is neither majority, nor a number from 1, nor the name of a mode: "
           "without an acknowledgement nothing can be locked";
  }
  if (options.retention < std::chrono::seconds(1)) {
    return "the retention is shorter than a second";
  }
  if (options.expiry < LeaseStore::kMinTtl || options.expiry > LeaseStore::kMaxTtl) {
    return "the expiry is not between 100 ms and 365 days";
  }
  if (options.extension_cadence < Duration::zero() || options.extension_cadence >= options.expiry) {
    return "the extension cadence is not shorter than the expiry";
  }
  if (options.busy_wait_least <= Duration::zero() ||
      options.busy_wait_least > options.busy_wait_most) {
    return "the busy-wait range does not go from more than nothing to at least as much";
  }
  if (options.connect_timeout <= Duration::zero() || options.reply_timeout <= Duration::zero()) {
    return "a time-out is not longer than nothing";
  }
  if (options.max_connections == 0) {
    return "there must be at least one connection";
  }
  return "";
}

}  // namespace

base::Result<void> check_options(const MongoOptions& options) {
  std::string problem = problem_of(options);
  if (!problem.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, std::move(problem));
  }
  return {};
}

}  // namespace holdfast::engines::mongodb::internal
