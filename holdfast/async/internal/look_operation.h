#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <holdfast/async/internal/operation.h>
#include <holdfast/base/error.h>
#include <holdfast/store/outcome.h>

namespace holdfast::async::internal {

// Asks the store once who holds a name.
class LookOperation : public Operation, private locks::steps::Procedure {
 public:
  static constexpr bool kCancellable = false;

  LookOperation(std::shared_ptr<EngineRoom> room, std::string name)
      : Operation(std::move(room)), name_(std::move(name)) {}

  [[nodiscard]] std::tuple<base::Result<std::optional<store::NameState>>> take() {
    return std::move(outcome_);
  }

 private:
  locks::steps::Procedure& procedure() noexcept final { return *this; }
  [[nodiscard]] locks::steps::Step start() final {
    return {.kind = locks::steps::Step::Kind::look, .name = name_};
  }
  [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& answer) final {
    outcome_ = std::get<base::Result<std::optional<store::NameState>>>(std::move(answer));
    return {};
  }

  const std::string name_;
  base::Result<std::optional<store::NameState>> outcome_;
};

}  // namespace holdfast::async::internal
