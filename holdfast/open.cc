#include <holdfast/open.h>

#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/engines/open_store.h>

namespace holdfast {

locks::LockProvider open(std::string_view url, locks::ProviderOptions options) {
  auto store = base::value_or_throw(engines::open_store(url, options.logger));
  return locks::LockProvider(std::move(store), std::move(options));
}

}  // namespace holdfast
