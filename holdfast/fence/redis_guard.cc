#include <holdfast/fence/redis_guard.h>

#include <holdfast/fence/internal/lua.h>

namespace holdfast::fence {

const Script& redis_check_script() noexcept { return internal::lua::kCheck; }

const Script& redis_set_script() noexcept { return internal::lua::kSet; }

std::string_view redis_fence_function() noexcept { return internal::lua::kFence.text; }

}  // namespace holdfast::fence
