#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/intrusive_list.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/name.h>
#include <holdfast/objects/internal/activation.h>
#include <holdfast/objects/internal/activation_map.h>
#include <holdfast/store/listings.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects::internal {

// The active objects of one type, and the list of those to save: the map lock of the host, spread
// over shards.
//
// Thread-safe; calls no other code under a lock. A returned pointer is valid while the caller holds
// the key of that object.
class ActivationTable {
 public:
  static constexpr std::size_t kShards = 64;

  // The work that a table has done: how often it looked for an id, how many slots that took, and
  // how many objects it visited to find some of them.
  struct Effort {
    std::uint64_t lookups = 0;
    std::uint64_t probes = 0;
    std::uint64_t visits = 0;
  };

  // `host` is for the check of the lock order.
  explicit ActivationTable(const void* host) noexcept : host_(host) {}

  // Returns the hash of the id for `find`, and starts to fetch the slot from memory: for a caller
  // that does other things before it looks.
  [[nodiscard]] std::size_t expect(std::string_view id) const noexcept HOLDFAST_UNCHECKED {
    const std::size_t hash = hash_of(id);
    shard_of(hash).activations.prefetch(hash);
    return hash;
  }
  // Returns null if the object is not active.
  [[nodiscard]] Activation* find(std::string_view id, std::size_t hash) const;
  [[nodiscard]] Activation* find(std::string_view id) const { return find(id, hash_of(id)); }
  // Inserts a new activation, under its exclusive key. A dirty one is listed.
  Activation& insert(std::unique_ptr<Activation> activation);
  // Removes the object, under its exclusive key. Returns null if it is not active.
  std::unique_ptr<Activation> extract(std::string_view id);

  // Removes all objects that need not be saved; call it only when no key is held.
  void clear_saved();

  // Appends the object to the list of those to save, unless it is listed or not active.
  void list(Activation& activation);
  // Removes the object from that list; harmless if it is not listed.
  void unlist(Activation& activation);
  // Returns the ids in the list, in byte order.
  [[nodiscard]] std::vector<std::string> listed_ids() const;

  [[nodiscard]] std::size_t size() const;
  // Returns the first `limit` ids with the prefix that come after `after`, in byte order, as a
  // page of a listing: only its first page visits all objects. `now` is of any clock, always the
  // same one.
  [[nodiscard]] store::IdPage ids(std::string_view prefix, std::size_t limit,
                                  std::string_view after, base::TimePoint now) const;
  // Returns the ids of one shard that were last used before this time.
  [[nodiscard]] std::vector<std::string> unused_since(base::TimePoint time,
                                                      std::size_t shard) const;

  [[nodiscard]] Effort effort() const;

 private:
  struct alignas(64) Shard {
    mutable base::Mutex mutex;
    ActivationMap activations HOLDFAST_GUARDED_BY(mutex);
    base::IntrusiveList<Activation, &Activation::to_save> to_save HOLDFAST_GUARDED_BY(mutex);
    mutable std::uint64_t lookups HOLDFAST_GUARDED_BY(mutex) = 0;
    mutable std::uint64_t visits HOLDFAST_GUARDED_BY(mutex) = 0;
  };

  static std::size_t hash_of(std::string_view id) noexcept {
    return std::hash<std::string_view>{}(id);
  }
  [[nodiscard]] Shard& shard_of(std::size_t hash) const noexcept {
    // The low bits choose the slot.
    return shards_[(hash >> 32U) % kShards];
  }
  static void append(Shard& shard, Activation& activation) noexcept HOLDFAST_REQUIRES(shard.mutex);
  static void remove(Shard& shard, Activation& activation) noexcept HOLDFAST_REQUIRES(shard.mutex);
  static std::unique_ptr<Activation> extract(Shard& shard, std::string_view id, std::size_t hash)
      HOLDFAST_REQUIRES(shard.mutex);

  [[nodiscard]] std::vector<base::Name> names(std::string_view prefix,
                                              std::string_view after) const;

  const void* const host_;
  mutable store::Listings listings_;
  mutable std::array<Shard, kShards> shards_{};
};

}  // namespace holdfast::objects::internal
