#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>
#include <holdfast/base/ttl.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::objects {

// `concurrent`: calls of one object run concurrently. `serial`: one at a time, in order of arrival.
enum class Calls : std::uint8_t { concurrent, serial };

// The moment at which changes are saved. `periodically`: every HostOptions::save_every.
// `each_call`: before the call returns, so that a reply means "stored".
enum class SaveWhen : std::uint8_t { periodically, each_call };

struct TypeOptions {
  Calls calls = Calls::concurrent;
  SaveWhen save = SaveWhen::periodically;
};

// With a provider, an object is active in one process at a time.
struct OwnershipOptions {
  // Must outlive the host. Null: this host is the only user of the repository.
  locks::LockProvider* provider = nullptr;
  // After a crash of the process that owned it, an object is free within this time.
  base::Ttl ttl = std::chrono::seconds(30);
  // The longest wait of a call for an object that is active elsewhere.
  base::Duration wait = std::chrono::seconds(5);
  // Begins the name of each lease, which continues with TYPE/ID.
  std::string prefix = "object/";
};

struct HostOptions {
  OwnershipOptions ownership{};
  // The longest wait of an operation for its object: for a delete, a creation, or a serial method.
  base::Duration key_wait = std::chrono::seconds(30);
  // The longest time that the repository may take for one request.
  base::Duration store_wait = std::chrono::seconds(10);
  // The time between saves of changed objects. nullopt: only on request.
  std::optional<base::Duration> save_every = std::chrono::seconds(5);
  // The number of objects that are saved in one request, of 4 MiB or little more: 1 to 1,000.
  std::size_t save_batch = 1'000;
  // An object that was not called for this long is saved and leaves memory; with a provider, other
  // processes can then own it. nullopt: it stays until `deactivate`, `erase` or `stop`.
  std::optional<base::Duration> idle_after{};
  // The most objects that may be active at the same time; beyond that, ErrorCode::limit_exceeded.
  std::size_t max_objects = 1'000'000;
  base::Logger logger{};
  // The clock that measures `save_every` and `idle_after`. Must outlive the host.
  const base::Clock* clock = &base::steady_clock();
};

// The limits of one operation, within those of HostOptions.
//
//   host.save<Account>("anna", {.within = 200ms, .stop = token});
struct Limits {
  // The operation's waits for its object, for another process and for the store end within this
  // time, together; then timed_out. It does not interrupt a method that runs.
  std::optional<base::Duration> within{};
  // Ends these waits, with cancelled, until the method has run or the store is asked.
  std::stop_token stop{};
};
inline const Limits kNoLimits{};

}  // namespace holdfast::objects
