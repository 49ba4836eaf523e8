#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/objects/internal/activation.h>

namespace holdfast::objects::internal {

// The active objects of one type, and the list of those to save: the map lock of the host, spread
// over shards.
//
// Thread-safe; calls no other code under a lock. A returned pointer is valid while the caller holds
// the key of that object.
class ActivationTable {
 public:
  // `host` is for the check of the lock order.
  explicit ActivationTable(const void* host) noexcept : host_(host) {}

  // Returns null if the object is not active.
  [[nodiscard]] Activation* find(std::string_view id) const;
  // Inserts a new activation, under its exclusive key. A dirty one is listed.
  Activation& insert(std::unique_ptr<Activation> activation);
  // Removes the object, under its exclusive key. Returns null if it is not active.
  std::unique_ptr<Activation> extract(std::string_view id);

  // Removes all objects that need not be saved; call it only when no key is held.
  [[nodiscard]] std::size_t clear_saved();

  // Appends the object to the list of those to save, unless it is listed or not active.
  void list(std::string_view id);
  // Removes the object from that list; harmless if it is not listed.
  void unlist(std::string_view id);
  // Returns the ids in the list.
  [[nodiscard]] std::vector<std::string> listed_ids() const;

  [[nodiscard]] std::size_t size() const;
  // Returns the first `limit` ids with the prefix that come after `after`, in byte order.
  [[nodiscard]] std::vector<std::string> ids(std::string_view prefix, std::size_t limit,
                                             std::string_view after) const;
  // Returns up to `most` ids that were last used before this time.
  [[nodiscard]] std::vector<std::string> unused_since(base::TimePoint time, std::size_t most) const;

 private:
  struct Key {
    std::string_view id;
    std::size_t hash;

    friend bool operator==(const Key& a, const Key& b) noexcept { return a.id == b.id; }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept { return key.hash; }
  };
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    // The key's text is the activation's own id.
    std::unordered_map<Key, std::unique_ptr<Activation>, KeyHash> activations;
    Activation* first = nullptr;  // of the list of objects to save
    Activation* last = nullptr;
  };

  static Key key_of(std::string_view id) noexcept {
    return {id, std::hash<std::string_view>{}(id)};
  }
  [[nodiscard]] Shard& shard_of(const Key& key) const noexcept {
    // The low bits choose the bucket.
    return shards_[(key.hash >> 32U) % shards_.size()];
  }
  static void append(Shard& shard, Activation& activation) noexcept;
  static void remove(Shard& shard, Activation& activation) noexcept;

  const void* const host_;
  mutable std::array<Shard, 64> shards_{};
};

}  // namespace holdfast::objects::internal
