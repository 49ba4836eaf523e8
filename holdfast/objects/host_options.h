#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>
#include <holdfast/base/ttl.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::objects {

// `concurrent`: calls of one object run at once. `serial`: one after the other, in the order in
// which they came.
enum class Calls : std::uint8_t { concurrent, serial };

// When what a method changed is saved. `periodically`: HostOptions::save_every. `each_call`: before
// the call returns, so that what a caller has seen done survives.
enum class SaveWhen : std::uint8_t { periodically, each_call };

struct TypeOptions {
  Calls calls = Calls::concurrent;
  SaveWhen save = SaveWhen::periodically;
};

// With a provider, an object is active in one process at a time.
struct OwnershipOptions {
  // Outlives the host. Null: this host has the repository for itself.
  locks::LockProvider* provider = nullptr;
  // After the death of the process that had it, an object is free within this time.
  base::Ttl ttl = std::chrono::seconds(30);
  // How long a call waits for an object that is active elsewhere.
  base::Duration wait = std::chrono::seconds(5);
  // Begins the name of each lease, which goes on with TYPE/ID.
  std::string prefix = "object/";
};

struct HostOptions {
  OwnershipOptions ownership{};
  // How long an operation waits for its object: for a delete, a creation, a serial method.
  base::Duration key_wait = std::chrono::seconds(30);
  // How long the repository may take for one request.
  base::Duration store_wait = std::chrono::seconds(10);
  // How often what has changed is saved. Nothing: only when asked.
  std::optional<base::Duration> save_every = std::chrono::seconds(5);
  // How many objects go to the repository in one request: 1 to 1,000.
  std::size_t save_batch = 100;
  // An object that was not called for so long is saved and leaves memory; with a provider, other
  // processes can then have it. Nothing: it stays until `deactivate`, `erase` or `stop`.
  std::optional<base::Duration> idle_after{};
  // How many objects may be active at once; beyond, ErrorCode::limit_exceeded.
  std::size_t max_objects = 1'000'000;
  base::Logger logger{};
  // By which `save_every` and `idle_after` are measured. Outlives the host.
  const base::Clock* clock = &base::steady_clock();
};

}  // namespace holdfast::objects
