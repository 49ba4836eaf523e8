#include <holdfast/engines/redis/internal/link/fitness.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::engines::redis::internal {

namespace {

constexpr std::array<std::string_view, 4> kUnfit = {"READONLY", "LOADING", "MASTERDOWN",
                                                    "CLUSTERDOWN"};

}  // namespace

bool is_unfit(const Reply& reply) noexcept {
  return reply.is_error() &&
         std::ranges::any_of(kUnfit, [&](std::string_view word) { return reply.is_error(word); });
}

}  // namespace holdfast::engines::redis::internal
