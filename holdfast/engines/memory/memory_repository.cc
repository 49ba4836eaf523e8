#include <holdfast/engines/memory/memory_repository.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace holdfast::engines::memory {

namespace {

using base::Deadline;
using base::FencingToken;
using base::Result;
using store::Batch;
using store::ObjectKey;
using store::ObjectSave;
using store::SaveOutcome;

// A key without data, of which the token is remembered.
struct Remnant {
  const ObjectKey* key;
  base::TimePoint used;
};
using Remnants = std::list<Remnant>;

struct Entry {
  std::optional<std::string> data;
  FencingToken newest{0};
  std::optional<Remnants::iterator> remnant;
};

struct KeyView {
  std::string_view type;
  std::string_view id;
};

struct KeyLess {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const noexcept {
    const int types = std::string_view(a.type).compare(b.type);
    return types != 0 ? types < 0 : std::string_view(a.id) < std::string_view(b.id);
  }
};

// Ordered, so that a page of a list is found without looking at all others.
using Entries = std::map<ObjectKey, Entry, KeyLess>;

std::size_t hash_of(const ObjectKey& key) {
  const std::hash<std::string_view> hash;
  return hash(key.id) ^ (hash(key.type) * 0x9e3779b97f4a7c15U);
}

}  // namespace

class MemoryRepository::Shards {
 public:
  struct alignas(64) Shard {
    std::mutex mutex;
    Entries entries;
    Remnants remnants;  // the one used longest ago first
  };

  explicit Shards(const MemoryRepositoryOptions& options)
      : clock_(*options.clock), retention_(options.retention) {}

  [[nodiscard]] Shard& of(const ObjectKey& key) { return shards_[hash_of(key) % shards_.size()]; }
  [[nodiscard]] auto& all() { return shards_; }

  // The rest is called under the lock of the shard.

  // After a use of `entry` that leaves it without data.
  void used_without_data(Shard& shard, Entries::iterator entry) {
    auto& [key, kept] = *entry;
    if (kept.newest == FencingToken(0)) {
      shard.entries.erase(entry);
      return;
    }
    if (kept.remnant) {
      shard.remnants.erase(*kept.remnant);
    }
    kept.remnant = shard.remnants.insert(shard.remnants.end(), {&key, clock_.coarse_now()});
  }

  // Two for each that an operation may add, so they get fewer when all are due.
  void forget_some(Shard& shard) {
    for (int step = 0; step < 2 && !shard.remnants.empty(); ++step) {
      const Remnant oldest = shard.remnants.front();
      if (clock_.coarse_now() - oldest.used < retention_) {
        return;
      }
      shard.remnants.pop_front();
      shard.entries.erase(shard.entries.find(*oldest.key));
    }
  }

  // `data` takes what was there before, to be freed when the lock is.
  static void put(Shard& shard, const ObjectSave& save, std::optional<std::string>& data) {
    Entry& entry = shard.entries.try_emplace(save.key).first->second;
    entry.data.swap(data);
    entry.newest = save.token;
    if (entry.remnant) {
      shard.remnants.erase(*entry.remnant);
      entry.remnant.reset();
    }
  }

  // Returns the answer that a save would get.
  static SaveOutcome judge(const Shard& shard, const ObjectSave& save) {
    const auto found = shard.entries.find(save.key);
    if (found != shard.entries.end() && save.token < found->second.newest) {
      return store::Refused{found->second.newest};
    }
    return store::Saved{};
  }

 private:
  const base::Clock& clock_;
  const base::Duration retention_;
  std::array<Shard, 64> shards_;
};

MemoryRepository::MemoryRepository(MemoryRepositoryOptions options)
    : shards_(std::make_unique<Shards>(options)) {}

MemoryRepository::~MemoryRepository() = default;

store::RepositoryCapabilities MemoryRepository::capabilities() const {
  return {.engine = "memory", .durable = false, .atomic_batch = true};
}

std::size_t MemoryRepository::size() const {
  std::size_t total = 0;
  for (Shards::Shard& shard : shards_->all()) {
    const std::lock_guard guard(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

Result<store::LoadOutcome> MemoryRepository::do_load(const ObjectKey& key, FencingToken token,
                                                     Deadline) {
  Shards::Shard& shard = shards_->of(key);
  const std::lock_guard guard(shard.mutex);
  shards_->forget_some(shard);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) {
    if (token == FencingToken(0)) {
      return store::Absent{};
    }
    found = shard.entries.try_emplace(key).first;
  }
  Entry& entry = found->second;
  if (token < entry.newest) {
    return store::Refused{entry.newest};
  }
  entry.newest = token;
  if (entry.data) {
    return store::Loaded{*entry.data};
  }
  shards_->used_without_data(shard, found);
  return store::Absent{};
}

Result<std::vector<SaveOutcome>> MemoryRepository::do_save(std::span<const ObjectSave> saves,
                                                           Batch batch, Deadline) {
  std::vector<SaveOutcome> outcomes;
  outcomes.reserve(saves.size());
  if (batch == Batch::each || saves.size() == 1) {
    for (const ObjectSave& save : saves) {
      std::optional<std::string> data = save.data;
      Shards::Shard& shard = shards_->of(save.key);
      const std::lock_guard guard(shard.mutex);
      shards_->forget_some(shard);
      outcomes.push_back(Shards::judge(shard, save));
      if (std::holds_alternative<store::Saved>(outcomes.back())) {
        Shards::put(shard, save, data);
      }
    }
    return outcomes;
  }

  std::vector<std::optional<std::string>> data;
  data.reserve(saves.size());
  std::set<Shards::Shard*> shards;  // in one order for all threads
  for (const ObjectSave& save : saves) {
    data.emplace_back(save.data);
    shards.insert(&shards_->of(save.key));
  }
  std::vector<std::unique_lock<std::mutex>> locks;
  locks.reserve(shards.size());
  for (Shards::Shard* shard : shards) {
    locks.emplace_back(shard->mutex);
    shards_->forget_some(*shard);
  }
  bool refused = false;
  for (const ObjectSave& save : saves) {
    outcomes.push_back(Shards::judge(shards_->of(save.key), save));
    refused = refused || !std::holds_alternative<store::Saved>(outcomes.back());
  }
  for (std::size_t i = 0; i < saves.size(); ++i) {
    if (!refused) {
      Shards::put(shards_->of(saves[i].key), saves[i], data[i]);
    } else if (std::holds_alternative<store::Saved>(outcomes[i])) {
      outcomes[i] = store::Withheld{};
    }
  }
  return outcomes;
}

Result<store::EraseOutcome> MemoryRepository::do_erase(const ObjectKey& key, FencingToken token,
                                                       Deadline) {
  std::optional<std::string> data;  // freed when the lock is
  Shards::Shard& shard = shards_->of(key);
  const std::lock_guard guard(shard.mutex);
  shards_->forget_some(shard);
  auto found = shard.entries.find(key);
  if (found == shard.entries.end()) {
    if (token == FencingToken(0)) {
      return store::Erased{.existed = false};
    }
    found = shard.entries.try_emplace(key).first;
  }
  Entry& entry = found->second;
  if (token < entry.newest) {
    return store::Refused{entry.newest};
  }
  entry.newest = token;
  entry.data.swap(data);
  shards_->used_without_data(shard, found);
  return store::Erased{.existed = data.has_value()};
}

Result<store::IdPage> MemoryRepository::do_list(std::string_view type, std::string_view prefix,
                                                std::size_t limit, std::string_view after,
                                                Deadline) {
  store::IdPage page;
  std::vector<std::string>& ids = page.ids;
  const auto keep_first = [&ids](std::size_t count) {
    std::ranges::sort(ids);
    ids.resize(std::min(ids.size(), count));
  };
  const std::string_view start = std::max(prefix, after);
  for (Shards::Shard& shard : shards_->all()) {
    const std::lock_guard guard(shard.mutex);
    const bool has_all = ids.size() > limit;  // but for smaller ones
    std::size_t taken = 0;
    for (auto entry = shard.entries.lower_bound(KeyView{type, start});
         entry != shard.entries.end() && taken <= limit; ++entry) {
      const auto& [key, kept] = *entry;
      if (key.type != type || !key.id.starts_with(prefix) || (has_all && key.id > ids[limit])) {
        break;
      }
      if (kept.data && key.id > after) {
        ids.push_back(key.id);
        ++taken;
      }
    }
    keep_first(limit + 1);  // one more tells whether there is a next page
  }
  if (ids.size() > limit) {
    ids.resize(limit);
    page.next = ids.back();
  }
  return page;
}

}  // namespace holdfast::engines::memory
