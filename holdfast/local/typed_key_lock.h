#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <expected>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/local/key_lock.h>

namespace holdfast::local {

// A key that is identified by its bytes alone: integers, enumerations, and structs of them without
// padding.
template <class Key>
concept ByteKey = std::is_trivially_copyable_v<Key> &&
                  std::has_unique_object_representations_v<Key> && !std::is_pointer_v<Key>;

// A KeyLock for keys that are not text; the same contract, word for word.
//
//   TypedKeyLock<std::uint64_t> locks;
//   auto guard = locks.lock(42);
template <ByteKey Key>
class TypedKeyLock {
 public:
  TypedKeyLock() = default;
  explicit TypedKeyLock(const KeyLockOptions& options) : locks_(options) {}

  [[nodiscard]] ExclusiveGuard lock(const Key& key) { return locks_.lock(bytes(key)); }
  [[nodiscard]] SharedGuard lock_shared(const Key& key) { return locks_.lock_shared(bytes(key)); }
  [[nodiscard]] auto lock(const Key& key, const KeyWait& wait) {
    return locks_.lock(bytes(key), wait);
  }
  [[nodiscard]] auto lock_shared(const Key& key, const KeyWait& wait) {
    return locks_.lock_shared(bytes(key), wait);
  }
  [[nodiscard]] auto try_lock(const Key& key) { return locks_.try_lock(bytes(key)); }
  [[nodiscard]] auto try_lock_shared(const Key& key) { return locks_.try_lock_shared(bytes(key)); }
  [[nodiscard]] auto try_lock_for(const Key& key, auto time) {
    return locks_.try_lock_for(bytes(key), time);
  }
  [[nodiscard]] auto try_lock_shared_for(const Key& key, auto time) {
    return locks_.try_lock_shared_for(bytes(key), time);
  }
  [[nodiscard]] auto try_lock_until(const Key& key, auto time) {
    return locks_.try_lock_until(bytes(key), time);
  }
  [[nodiscard]] auto try_lock_shared_until(const Key& key, auto time) {
    return locks_.try_lock_shared_until(bytes(key), time);
  }
  [[nodiscard]] KeyLock::MultiGuard lock_all(std::span<const Key> keys) {
    return locks_.lock_all(all_bytes(keys));
  }
  [[nodiscard]] KeyLock::MultiGuard lock_all(std::initializer_list<Key> keys) {
    return lock_all(std::span(keys.begin(), keys.size()));
  }
  [[nodiscard]] auto lock_all(std::span<const Key> keys, const KeyWait& wait) {
    return locks_.lock_all(all_bytes(keys), wait);
  }
  [[nodiscard]] auto lock_all(std::initializer_list<Key> keys, const KeyWait& wait) {
    return lock_all(std::span(keys.begin(), keys.size()), wait);
  }
  [[nodiscard]] KeyMutex mutex(const Key& key) { return locks_.mutex(bytes(key)); }

  [[nodiscard]] std::size_t size() const { return locks_.size(); }
  [[nodiscard]] KeyLockStats stats() const { return locks_.stats(); }
  [[nodiscard]] std::vector<std::pair<Key, KeyState>> snapshot() const {
    std::vector<std::pair<Key, KeyState>> typed;
    for (KeyState& state : locks_.snapshot()) {
      std::array<char, sizeof(Key)> raw;
      std::memcpy(raw.data(), state.key.data(), sizeof(Key));
      typed.emplace_back(std::bit_cast<Key>(raw), std::move(state));
    }
    return typed;
  }

 private:
  static std::string_view bytes(const Key& key) noexcept {
    return {reinterpret_cast<const char*>(&key), sizeof(Key)};
  }
  // Returns views of the keys, which must outlive them.
  static std::vector<std::string_view> all_bytes(std::span<const Key> keys) {
    std::vector<std::string_view> views;
    views.reserve(keys.size());
    for (const Key& key : keys) {
      views.push_back(bytes(key));
    }
    return views;
  }

  KeyLock locks_;
};

}  // namespace holdfast::local
