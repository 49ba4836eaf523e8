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

// The active objects of one type, and which of them are to be saved: the map lock of the host,
// spread over shards.
//
// Thread-safe; calls nobody else under a lock. A pointer that it returns is good for as long as the
// caller holds the key of that object.
class ActivationTable {
 public:
  // For the check of the lock order.
  explicit ActivationTable(const void* host) noexcept : host_(host) {}

  // Null: not active.
  [[nodiscard]] Activation* find(std::string_view id) const;
  // Under the exclusive key, where there is none yet. One that is dirty is listed.
  Activation& insert(std::unique_ptr<Activation> activation);
  // Under the exclusive key. Null: not active.
  std::unique_ptr<Activation> extract(std::string_view id);

  // Out of the table with all that need not be saved any more; for when nobody holds a key.
  [[nodiscard]] std::size_t clear_saved();

  // Puts it at the end of the list of those to be saved, unless it is there or not active.
  void list(std::string_view id);
  // Out of that list; harmless if it is not there.
  void unlist(std::string_view id);
  // Who is in the list now.
  [[nodiscard]] std::vector<std::string> listed_ids() const;

  [[nodiscard]] std::size_t size() const;
  // The first `limit` of those that begin with the prefix and come after `after`, in byte order.
  [[nodiscard]] std::vector<std::string> ids(std::string_view prefix, std::size_t limit,
                                             std::string_view after) const;
  // Up to so many that were last used before this time.
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
    Activation* first = nullptr;  // of the list of those to be saved
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
