#include <holdfast/async/internal/blocking_call.h>

#include <memory>

namespace holdfast::async::internal {

namespace {

struct NoHandler {
  void operator()(const auto&... /*outcome*/) const noexcept {}
};

}  // namespace

void run_in_background(const Room& room, std::function<void()> work) {
  using Outcome = base::Result<void>;
  Operation::start_in_background(
      std::make_shared<ProcedureOperation<BlockingCall<Outcome>, NoHandler>>(
          NoHandler(), room,
          [work = std::move(work)]() mutable {
            work();
            return Outcome();
          },
          Purpose::give_back));
}

}  // namespace holdfast::async::internal
