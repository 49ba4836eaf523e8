#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>

namespace holdfast::simulation {

// The properties that are checked. The first six are promises of docs/safety.md.
enum class Promise : std::uint8_t {
  one_holder,
  tokens_grow,
  lost_in_time,
  crash_frees,
  calls_end,
  release_frees_own,
  kept_while_held,  // no holder loses a lease that the store still has
  nobody_is_stuck,  // every waiter is served within a bounded time after the last fault
  nothing_is_left,
};
inline constexpr std::size_t kPromises = static_cast<std::size_t>(Promise::nothing_is_left) + 1;

[[nodiscard]] std::string_view to_string(Promise promise) noexcept;

struct Violation {
  Promise promise;
  std::string what;
};

// Judges one history: learns what the store did and what callers learned, and keeps the first
// violation. It shares no code with the rules, the engines or the machines.
//
// A store that loses its data, or whose clock is moved forward, may let leases end early: those of
// that moment are excused, later ones are not.
class Checker {
 public:
  // A live lease, as the store has it after an operation.
  struct Lease {
    base::LeaseId id;
    std::uint64_t token = 0;
    std::uint32_t permits = 1;
    base::TimePoint expires{};  // by the store's clock
    bool is_confirmed = true;   // else its caller does not know of it yet

    friend bool operator==(const Lease&, const Lease&) = default;
  };
  // The operations of the store on a name, in their order.
  struct Operation {
    enum class Kind : std::uint8_t { claim, renew, transfer, release };
    Kind kind = Kind::claim;
    base::LeaseId id;    // of the request
    base::LeaseId to{};  // of a transfer: the new id
  };
  // A caller has learned that it has the name.
  struct Holding {
    int name = 0;
    base::LeaseId id;
    std::uint32_t permits = 1;
    std::uint32_t capacity = 1;
    std::function<bool()> is_ours;  // whether its holder may still rely on it
  };

  explicit Checker(std::size_t names) : names_(names) {}

  // `live`: the leases of the name that are live now, by the store's clock.
  void done(int name, const Operation& operation, std::uint32_t capacity,
            std::span<const Lease> live, base::TimePoint now);
  // The store has lost leases, or they have ended early. `live` is what it has now.
  void excuse(int name, std::span<const Lease> live);
  // The store has forgotten its tokens, and its clock was set back before: docs/safety.md promises
  // no order then.
  void excuse_tokens(int name) { names_[static_cast<std::size_t>(name)].last_token = 0; }

  void acquired(Holding holding);
  // Its holder no longer relies on it.
  void ended(const base::LeaseId& id);
  // The holder relies on its lease until `until`; the good request was sent such that it may do so
  // until `limit`. Both by its clock.
  void relies(const base::LeaseId& id, base::TimePoint until, base::TimePoint limit);
  // A holder has learned that its lease is lost before it ended by its own clock.
  void lost_early(int name, const base::LeaseId& id, base::TimePoint store_now);

  void fail(Promise promise, std::string what);
  [[nodiscard]] const std::optional<Violation>& violation() const noexcept { return violation_; }
  // Returns how many things were checked.
  [[nodiscard]] const std::array<std::uint64_t, kPromises>& checks() const noexcept {
    return checks_;
  }
  void count(Promise promise) noexcept { ++checks_[static_cast<std::size_t>(promise)]; }

 private:
  struct OfName {
    std::vector<Lease> live;  // after the last operation
    std::uint64_t last_token = 0;
  };

  void check_new(int name, const Operation& operation, const Lease& lease, const Lease* before,
                 base::TimePoint now);
  [[nodiscard]] bool is_excused(const base::LeaseId& id) const { return excused_.contains(id); }

  std::vector<OfName> names_;
  std::vector<Holding> holdings_;
  std::unordered_set<base::LeaseId> excused_;
  std::optional<Violation> violation_;
  std::array<std::uint64_t, kPromises> checks_{};
};

}  // namespace holdfast::simulation
