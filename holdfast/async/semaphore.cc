#include <holdfast/async/semaphore.h>

namespace holdfast::async {

boost::asio::awaitable<base::Result<std::uint32_t>> AsyncSemaphore::available() {
  const auto state = co_await provider_.look(name_);
  co_return rules_.free_in(state);
}

}  // namespace holdfast::async
