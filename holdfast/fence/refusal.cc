#include <holdfast/fence/refusal.h>

namespace holdfast::fence {

base::Error refusal(base::FencingToken token, base::FencingToken newest) {
  return {base::ErrorCode::lost, "token " + to_string(token) + " is refused, token " +
                                     to_string(newest) +
                                     " was seen: the lock went to another holder; acquire it anew"};
}

}  // namespace holdfast::fence
