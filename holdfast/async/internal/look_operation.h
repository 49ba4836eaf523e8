#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <holdfast/async/internal/operation.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/outcome.h>

namespace holdfast::async::internal {

// Asks the store once for the holders of a name.
class LookOperation : public Operation {
 public:
  using Outcome = base::Result<std::optional<store::NameState>>;

  static constexpr bool kCancellable = false;

  LookOperation(std::shared_ptr<EngineRoom> room, std::string name)
      : Operation(std::move(room)), steps_(std::move(name)) {}

  [[nodiscard]] std::tuple<Outcome> take() { return std::move(steps_.outcome); }

 private:
  class Steps final : public locks::steps::Procedure {
   public:
    explicit Steps(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] locks::steps::Step start() override {
      return {.kind = locks::steps::Step::Kind::look, .name = name_};
    }
    [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& answer) override {
      outcome = std::get<Outcome>(std::move(answer));
      return {};
    }

    Outcome outcome;

   private:
    const std::string name_;
  };

  locks::steps::Procedure& procedure() noexcept final { return steps_; }

  Steps steps_;
};

}  // namespace holdfast::async::internal
