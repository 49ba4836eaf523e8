#include <holdfast/async/key_list.h>

#include <algorithm>

namespace holdfast::async {

void KeyList::put_in_order() {
  std::ranges::sort(keys_);
  const auto repeated = std::ranges::unique(keys_);
  keys_.erase(repeated.begin(), repeated.end());
}

}  // namespace holdfast::async
