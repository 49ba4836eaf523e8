#include <holdfast/objects/internal/refusal.h>

namespace holdfast::objects::internal {

base::Error refusal(const ObjectType& type, std::string_view id, base::FencingToken token,
                    base::FencingToken newest) {
  if (token == base::FencingToken(0)) {
    return {base::ErrorCode::conflict,
            type.describe(id) + " is kept by hosts with a LockProvider, last under token " +
                to_string(newest) + "; give one to this host, too"};
  }
  return {base::ErrorCode::lost, "another process has " + type.describe(id) +
                                     " since, under token " + to_string(newest) + "; ours is " +
                                     to_string(token)};
}

}  // namespace holdfast::objects::internal
