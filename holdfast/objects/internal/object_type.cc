#include <holdfast/objects/internal/object_type.h>

#include <atomic>

#include <holdfast/base/printable.h>
#include <holdfast/objects/internal/name_list.h>

namespace holdfast::objects::internal {

std::size_t next_type_slot() noexcept {
  static std::atomic<std::size_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::string ObjectType::describe(std::string_view id) const {
  return name + " '" + base::printable(id) + "'";
}

base::Error ObjectType::refusal(std::string_view id, base::FencingToken token,
                                base::FencingToken newest) const {
  if (token == base::FencingToken(0)) {
    return {base::ErrorCode::conflict,
            describe(id) + " is kept by hosts with a LockProvider, last under token " +
                to_string(newest) + "; give one to this host, too"};
  }
  return {base::ErrorCode::lost, "another process has " + describe(id) + " since, under token " +
                                     to_string(newest) + "; ours is " + to_string(token)};
}

base::Result<const JsonMethod*> ObjectType::method(std::string_view wanted) const {
  const auto found = methods.find(wanted);
  if (found == methods.end()) {
    return base::fail(base::ErrorCode::invalid_argument, "type '" + name + "' has no method '" +
                                                             base::printable(wanted) +
                                                             "'; it has: " + name_list(methods));
  }
  return &found->second;
}

}  // namespace holdfast::objects::internal
