#include <holdfast/objects/internal/activation_table.h>

#include <algorithm>
#include <utility>

#include <holdfast/objects/internal/lock_order.h>

namespace holdfast::objects::internal {

namespace {

// The lock of a shard, with its rank in the lock order.
class MapLock {
 public:
  MapLock(const void* host, std::mutex& mutex) : order_(host, Rank::map), lock_(mutex) {}

 private:
  const Ranked order_;
  const std::lock_guard<std::mutex> lock_;
};

}  // namespace

Activation* ActivationTable::find(std::string_view id) const {
  const Key key = key_of(id);
  Shard& shard = shard_of(key);
  const MapLock lock(host_, shard.mutex);
  const auto found = shard.activations.find(key);
  return found != shard.activations.end() ? found->second.get() : nullptr;
}

Activation& ActivationTable::insert(std::unique_ptr<Activation> activation) {
  Activation& inserted = *activation;
  const Key key = key_of(inserted.id);
  Shard& shard = shard_of(key);
  const MapLock lock(host_, shard.mutex);
  shard.activations.emplace(key, std::move(activation));
  if (inserted.dirty.load(std::memory_order_relaxed)) {
    append(shard, inserted);
  }
  return inserted;
}

std::unique_ptr<Activation> ActivationTable::extract(std::string_view id) {
  const Key key = key_of(id);
  Shard& shard = shard_of(key);
  const MapLock lock(host_, shard.mutex);
  const auto found = shard.activations.find(key);
  if (found == shard.activations.end()) {
    return nullptr;
  }
  std::unique_ptr<Activation> activation = std::move(found->second);
  shard.activations.erase(found);
  remove(shard, *activation);
  return activation;
}

std::size_t ActivationTable::clear_saved() {
  std::size_t count = 0;
  for (Shard& shard : shards_) {
    std::vector<std::unique_ptr<Activation>> cleared;  // destroyed without the lock
    const MapLock lock(host_, shard.mutex);
    for (auto at = shard.activations.begin(); at != shard.activations.end();) {
      if (at->second->dirty && !at->second->lost) {
        ++at;
        continue;
      }
      remove(shard, *at->second);
      cleared.push_back(std::move(at->second));
      at = shard.activations.erase(at);
    }
    count += cleared.size();
  }
  return count;
}

void ActivationTable::list(std::string_view id) {
  const Key key = key_of(id);
  Shard& shard = shard_of(key);
  const MapLock lock(host_, shard.mutex);
  const auto found = shard.activations.find(key);
  if (found != shard.activations.end()) {
    append(shard, *found->second);
  }
}

void ActivationTable::unlist(std::string_view id) {
  const Key key = key_of(id);
  Shard& shard = shard_of(key);
  const MapLock lock(host_, shard.mutex);
  const auto found = shard.activations.find(key);
  if (found != shard.activations.end()) {
    remove(shard, *found->second);
  }
}

std::vector<std::string> ActivationTable::listed_ids() const {
  std::vector<std::string> ids;
  for (const Shard& shard : shards_) {
    const MapLock lock(host_, shard.mutex);
    for (const Activation* at = shard.first; at != nullptr; at = at->next) {
      ids.push_back(at->id);
    }
  }
  return ids;
}

std::size_t ActivationTable::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const MapLock lock(host_, shard.mutex);
    total += shard.activations.size();
  }
  return total;
}

std::vector<std::string> ActivationTable::ids(std::string_view prefix, std::size_t limit,
                                              std::string_view after) const {
  std::vector<std::string> ids;
  for (const Shard& shard : shards_) {
    {
      const MapLock lock(host_, shard.mutex);
      for (const auto& [key, activation] : shard.activations) {
        if (key.id.starts_with(prefix) && key.id > after) {
          ids.emplace_back(key.id);
        }
      }
    }
    std::ranges::sort(ids);
    ids.resize(std::min(ids.size(), limit));
  }
  return ids;
}

std::vector<std::string> ActivationTable::unused_since(base::TimePoint time,
                                                       std::size_t most) const {
  const base::Duration::rep before = time.time_since_epoch().count();
  std::vector<std::string> ids;
  for (const Shard& shard : shards_) {
    const MapLock lock(host_, shard.mutex);
    for (const auto& [key, activation] : shard.activations) {
      if (ids.size() == most) {
        return ids;
      }
      if (activation->last_used.load(std::memory_order_relaxed) <= before) {
        ids.emplace_back(key.id);
      }
    }
  }
  return ids;
}

void ActivationTable::append(Shard& shard, Activation& activation) noexcept {
  if (activation.listed) {
    return;
  }
  activation.listed = true;
  activation.previous = std::exchange(shard.last, &activation);
  (activation.previous != nullptr ? activation.previous->next : shard.first) = &activation;
}

void ActivationTable::remove(Shard& shard, Activation& activation) noexcept {
  if (!activation.listed) {
    return;
  }
  activation.listed = false;
  (activation.previous != nullptr ? activation.previous->next : shard.first) = activation.next;
  (activation.next != nullptr ? activation.next->previous : shard.last) = activation.previous;
  activation.next = nullptr;
  activation.previous = nullptr;
}

}  // namespace holdfast::objects::internal
