#include <holdfast/async/semaphore.h>

namespace holdfast::async {

boost::asio::awaitable<base::Result<std::uint32_t>> Semaphore::available() {
  const auto state = co_await provider_.look(name_);
  co_return recipes::Semaphore::free_permits(capacity_, state);
}

}  // namespace holdfast::async
