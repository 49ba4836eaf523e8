#include <holdfast/objects/internal/activation_table.h>

#include <algorithm>
#include <utility>

#include <holdfast/objects/internal/lock_order.h>

namespace holdfast::objects::internal {

namespace {

// The lock of a shard, with its rank in the lock order.
class HOLDFAST_ANNOTATE(scoped_lockable) MapLock {
 public:
  MapLock(const void* host, base::Mutex& mutex) HOLDFAST_ANNOTATE(acquire_capability(mutex))
      : order_(host, Rank::map), mutex_(mutex) {
    mutex_.lock();
  }
  ~MapLock() HOLDFAST_ANNOTATE(release_capability()) { mutex_.unlock(); }
  MapLock(const MapLock&) = delete;
  MapLock& operator=(const MapLock&) = delete;

 private:
  const Ranked order_;
  base::Mutex& mutex_;
};

}  // namespace

Activation* ActivationTable::find(std::string_view id, std::size_t hash) const {
  Shard& shard = shard_of(hash);
  const MapLock lock(host_, shard.mutex);
  ++shard.lookups;
  return shard.activations.find(id, hash);
}

Activation& ActivationTable::insert(std::unique_ptr<Activation> activation) {
  Activation& inserted = *activation;
  inserted.hash = hash_of(inserted.id);
  Shard& shard = shard_of(inserted.hash);
  const MapLock lock(host_, shard.mutex);
  shard.activations.insert(std::move(activation));
  inserted.active = true;
  if (inserted.dirty.load(std::memory_order_relaxed)) {
    append(shard, inserted);
  }
  return inserted;
}

std::unique_ptr<Activation> ActivationTable::extract(std::string_view id) {
  const std::size_t hash = hash_of(id);
  Shard& shard = shard_of(hash);
  const MapLock lock(host_, shard.mutex);
  ++shard.lookups;
  return extract(shard, id, hash);
}

std::unique_ptr<Activation> ActivationTable::extract(Shard& shard, std::string_view id,
                                                     std::size_t hash) {
  std::unique_ptr<Activation> activation = shard.activations.extract(id, hash);
  if (activation != nullptr) {
    remove(shard, *activation);
    activation->active = false;
  }
  return activation;
}

void ActivationTable::clear_saved() {
  for (Shard& shard : shards_) {
    std::vector<std::unique_ptr<Activation>> cleared;  // destroyed without the lock
    const MapLock lock(host_, shard.mutex);
    std::vector<const Activation*> saved;
    shard.activations.for_each([&](const Activation& activation) {
      if (!activation.dirty || activation.lost) saved.push_back(&activation);
    });
    for (const Activation* const activation : saved) {
      cleared.push_back(extract(shard, activation->id, activation->hash));
    }
  }
}

void ActivationTable::list(Activation& activation) {
  Shard& shard = shard_of(activation.hash);
  const MapLock lock(host_, shard.mutex);
  if (activation.active) {
    append(shard, activation);
  }
}

void ActivationTable::unlist(Activation& activation) {
  Shard& shard = shard_of(activation.hash);
  const MapLock lock(host_, shard.mutex);
  remove(shard, activation);
}

std::vector<std::string> ActivationTable::listed_ids() const {
  std::vector<std::string> ids;
  for (const Shard& shard : shards_) {
    const MapLock lock(host_, shard.mutex);
    for (const Activation* at = shard.to_save.front(); at != nullptr;
         at = shard.to_save.after(*at)) {
      ids.push_back(at->id);
    }
  }
  std::ranges::sort(ids);
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

store::IdPage ActivationTable::ids(std::string_view prefix, std::size_t limit,
                                   std::string_view after, base::TimePoint now) const {
  auto listing = listings_.take(prefix, after, now);
  if (!listing) {
    listing = {.prefix = std::string(prefix), .names = names(prefix, after)};
  }
  store::IdPage page;
  while (listing->shown < listing->names.size() && page.ids.size() < limit) {
    const std::string_view id = listing->names[listing->shown++].view();
    if (find(id) != nullptr) page.ids.emplace_back(id);
  }
  if (listing->shown < listing->names.size()) {
    page.next = page.ids.back();
    listings_.keep(*std::move(listing), page.next, now);
  }
  return page;
}

std::vector<base::Name> ActivationTable::names(std::string_view prefix,
                                               std::string_view after) const {
  std::vector<base::Name> names;
  for (const Shard& shard : shards_) {
    const MapLock lock(host_, shard.mutex);
    shard.visits += shard.activations.size();
    shard.activations.for_each([&](const Activation& activation) {
      if (activation.id.starts_with(prefix) && activation.id > after) {
        names.push_back(*base::Name::make(activation.id));
      }
    });
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> ActivationTable::unused_since(base::TimePoint time,
                                                       std::size_t shard_index) const {
  const base::Duration::rep before = time.time_since_epoch().count();
  const Shard& shard = shards_[shard_index];
  std::vector<std::string> ids;
  const MapLock lock(host_, shard.mutex);
  shard.visits += shard.activations.size();
  shard.activations.for_each([&](const Activation& activation) {
    if (activation.last_used.load(std::memory_order_relaxed) <= before)
      ids.push_back(activation.id);
  });
  return ids;
}

ActivationTable::Effort ActivationTable::effort() const {
  Effort total;
  for (const Shard& shard : shards_) {
    const MapLock lock(host_, shard.mutex);
    total.lookups += shard.lookups;
    total.probes += shard.activations.probes();
    total.visits += shard.visits;
  }
  return total;
}

void ActivationTable::append(Shard& shard, Activation& activation) noexcept {
  if (activation.listed) {
    return;
  }
  activation.listed = true;
  shard.to_save.push_back(activation);
}

void ActivationTable::remove(Shard& shard, Activation& activation) noexcept {
  if (!activation.listed) {
    return;
  }
  activation.listed = false;
  shard.to_save.erase(activation);
}

}  // namespace holdfast::objects::internal
