#include <holdfast/fence/bigint.h>

#include <limits>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/fence/far_ahead.h>

namespace holdfast::fence {

base::Result<std::int64_t> to_bigint(base::FencingToken token) {
  if (token.value() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return base::fail(
        base::ErrorCode::invalid_argument,
        "token " + to_string(token) + " does not fit into 63 bits, as databases keep it");
  }
  HOLDFAST_TRY(check_not_far_ahead(token));
  return static_cast<std::int64_t>(token.value());
}

}  // namespace holdfast::fence
