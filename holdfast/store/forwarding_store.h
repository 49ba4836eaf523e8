#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/store/lease_store.h>

namespace holdfast::store {

enum class Operation : std::uint8_t { claim, renew, transfer, release, look, list, hit, watch };

// A store that forwards every operation to another one, and lets the derived class decide when and
// how often, in one function for all operations.
//
// Thread-safe if both are. Keeps the other store alive. It does not forward `async()`.
class ForwardingStore : public LeaseStore {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return real_->capabilities(); }
  [[nodiscard]] LeaseDefaults lease_defaults() const override { return real_->lease_defaults(); }

 protected:
  // Asks the other store, with this deadline.
  using Forward = std::function<base::Result<void>(base::Deadline)>;

  explicit ForwardingStore(std::shared_ptr<LeaseStore> real) : real_(std::move(real)) {}

  [[nodiscard]] LeaseStore& forwarded_to() const noexcept { return *real_; }

  // Forwards a call, never, once or several times. Returns an error for the caller, or success: the
  // caller gets the outcome of the last `forward` then, and there must have been one.
  virtual base::Result<void> around(Operation operation, base::Deadline deadline,
                                    const Forward& forward) = 0;

  base::Result<Watch> do_watch(const base::Name& name, WatchCallback callback) override {
    return forward<Watch>(Operation::watch, base::Deadline::never(),
                          [&](base::Deadline) { return real_->watch(name.view(), callback); });
  }

 private:
  template <class T, class Ask>
  base::Result<T> forward(Operation operation, base::Deadline deadline, const Ask& ask) {
    std::optional<base::Result<T>> outcome;
    const auto once = [&](base::Deadline until) -> base::Result<void> {
      outcome.emplace(ask(until));
      if (!*outcome) return std::unexpected(outcome->error());
      return {};
    };
    if (auto done = around(operation, deadline, std::cref(once)); !done) {
      return std::unexpected(std::move(done).error());
    }
    return *std::move(outcome);
  }

  base::Result<ClaimOutcome> do_claim(const base::Name& name, const Claim& claim,
                                      base::Deadline deadline) final {
    return forward<ClaimOutcome>(Operation::claim, deadline, [&](base::Deadline until) {
      return real_->claim(name.view(), claim, until);
    });
  }
  base::Result<std::vector<RenewOutcome>> do_renew(std::span<const Renewal> renewals,
                                                   base::Deadline deadline) final {
    return forward<std::vector<RenewOutcome>>(
        Operation::renew, deadline,
        [&](base::Deadline until) { return real_->renew(renewals, until); });
  }
  base::Result<TransferOutcome> do_transfer(const base::Name& name, const base::LeaseId& from,
                                            const Claim& to, base::Deadline deadline) final {
    return forward<TransferOutcome>(Operation::transfer, deadline, [&](base::Deadline until) {
      return real_->transfer(name.view(), from, to, until);
    });
  }
  base::Result<ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                          base::Deadline deadline) final {
    return forward<ReleaseOutcome>(Operation::release, deadline, [&](base::Deadline until) {
      return real_->release(name.view(), id, until);
    });
  }
  base::Result<std::optional<NameState>> do_look(const base::Name& name,
                                                 base::Deadline deadline) final {
    return forward<std::optional<NameState>>(Operation::look, deadline, [&](base::Deadline until) {
      return real_->look(name.view(), until);
    });
  }
  base::Result<Page> do_list(std::string_view prefix, const PageRequest& page,
                             base::Deadline deadline) final {
    return forward<Page>(Operation::list, deadline,
                         [&](base::Deadline until) { return real_->list(prefix, page, until); });
  }
  base::Result<HitOutcome> do_hit(const base::Name& name, const Hit& hit,
                                  base::Deadline deadline) final {
    return forward<HitOutcome>(Operation::hit, deadline, [&](base::Deadline until) {
      return real_->hit(name.view(), hit, until);
    });
  }

  const std::shared_ptr<LeaseStore> real_;
};

}  // namespace holdfast::store
