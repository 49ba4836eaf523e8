#include <holdfast/async/key_guard.h>

#include <holdfast/async/internal/key_table.h>

namespace holdfast::async {

using internal::KeyMode;

template <KeyMode kMode>
void BasicKeyGuard<kMode>::release() noexcept {
  table_->leave(*std::exchange(entry_, nullptr), kMode);
}

template <KeyMode kMode>
AsyncSharedGuard BasicKeyGuard<kMode>::downgrade() && noexcept
  requires(kMode == KeyMode::exclusive)
{
  if (entry_ == nullptr) {
    return {};
  }
  table_->downgrade(*entry_);
  return internal::KeyGuards::make<KeyMode::shared>(*table_, std::exchange(entry_, nullptr));
}

template class BasicKeyGuard<KeyMode::exclusive>;
template class BasicKeyGuard<KeyMode::shared>;

}  // namespace holdfast::async
