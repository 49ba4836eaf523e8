#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <holdfast/base/ids.h>
#include <holdfast/base/ttl.h>

namespace holdfast::store {

// The part of a name that a claim wants. One rule makes a mutex, a semaphore and a reader-writer
// lock: the permits of all live leases of a name never exceed its capacity.
//
//   Permits::mutex()      1 of 1
//   Permits::of(2, 5)     2 of 5
//   Permits::reader()     1 of "all"
//   Permits::writer()     all of "all"
//
// All live leases of one name have the same capacity; a claim with another is ErrorCode::conflict.
struct Permits {
  static constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t count = 1;
  std::uint32_t capacity = 1;

  [[nodiscard]] static constexpr Permits mutex() noexcept { return {1, 1}; }
  [[nodiscard]] static constexpr Permits of(std::uint32_t count, std::uint32_t capacity) noexcept {
    return {count, capacity};
  }
  [[nodiscard]] static constexpr Permits reader() noexcept { return {1, kAll}; }
  [[nodiscard]] static constexpr Permits writer() noexcept { return {kAll, kAll}; }

  [[nodiscard]] constexpr bool valid() const noexcept { return count >= 1 && count <= capacity; }

  friend constexpr bool operator==(const Permits&, const Permits&) noexcept = default;
};

// A wish to hold a name. Borrows its texts for the duration of the call.
//
// The id is the identity of the wish: a claim that is sent again with the same id gets the same
// token back, and its lease is renewed to the ttl.
struct Claim {
  // More than this is ErrorCode::invalid_argument.
  static constexpr std::size_t kMaxOwner = 256;
  static constexpr std::size_t kMaxReason = 1024;

  base::LeaseId id;
  std::string_view owner;   // human-readable owner label: not empty
  std::string_view reason;  // human-readable reason: may be empty
  base::Ttl ttl;
  Permits permits{};
  // While this claim has to wait, smaller claims do not pass it: for so long from its last refusal,
  // claims for fewer permits by ids that do not hold the name have to wait too. So a writer that
  // asks again and again is not kept out by ever new readers. Zero: others may pass. It means
  // nothing to a mutex, where nobody can want fewer.
  //
  // The store remembers this of up to `kMaxWaiting` ids of a name, those that last longest, until
  // the id is granted or released, or the time is over.
  base::Duration holds_back{};

  static constexpr std::size_t kMaxWaiting = 8;

  // The caller goes on waiting if it is refused, and watches the name. A store that has a queue of
  // waiters then grants the name to this claim when its turn comes, and notifies the watchers with
  // its id (Notice::granted). That lease lasts only for seconds, so that a dead waiter does not
  // keep the name: the caller confirms it by sending the same claim again, which returns the token
  // and a lease of the whole ttl. See Busy::pending.
  bool waits = false;
};

// A lease to be extended to `ttl` from now.
struct Renewal {
  std::string_view name;
  base::LeaseId id;
  base::Ttl ttl;
};

}  // namespace holdfast::store
