#include <holdfast/store/leases.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace holdfast::store {

namespace {

thread_local std::uint64_t visited = 0;

// Orders leases by the time at which they end.
struct EndsBefore {
  bool operator()(const StoredLease& one, const StoredLease& two) const noexcept {
    return one.expires != two.expires ? one.expires < two.expires : one.id < two.id;
  }
};

}  // namespace

// The positions of the leases. A damaged record may have an id more than once.
struct Leases::Index {
  struct Earlier {
    bool operator()(Place one, Place two) const noexcept { return EndsBefore{}(*one, *two); }
  };

  void add(Place place) {
    by_id.emplace(place->id, place);
    by_end.insert(place);
  }
  void remove(Place place) {
    const auto [first, last] = by_id.equal_range(place->id);
    by_id.erase(std::find_if(first, last, [&](const auto& each) { return each.second == place; }));
    by_end.erase(end_of(place));
  }
  // Lets the lease end at another time.
  void move(Place place, base::TimePoint expires) {
    auto node = by_end.extract(end_of(place));
    place->expires = expires;
    by_end.insert(std::move(node));
  }
  [[nodiscard]] std::multiset<Place, Earlier>::iterator end_of(Place place) {
    const auto [first, last] = by_end.equal_range(place);
    return std::find(first, last, place);
  }

  std::unordered_multimap<base::LeaseId, Place> by_id;
  std::multiset<Place, Earlier> by_end;
};

Leases::Leases() noexcept = default;

Leases::Leases(std::initializer_list<StoredLease> leases) {
  for (const StoredLease& lease : leases) {
    insert(lease);
  }
}

Leases::Leases(const Leases& other)
    : leases_(other.leases_), used_(other.used_), rest_(other.rest_) {
  if (leases_.size() > kPlain) {
    make_index();
  }
}

Leases::Leases(Leases&& other) noexcept
    : leases_(std::move(other.leases_)),
      used_(std::exchange(other.used_, 0)),
      rest_(std::exchange(other.rest_, {})),
      index_(std::move(other.index_)) {
  other.leases_.clear();
}

Leases& Leases::operator=(Leases other) noexcept {
  leases_.swap(other.leases_);
  std::swap(used_, other.used_);
  std::swap(rest_, other.rest_);
  std::swap(index_, other.index_);
  return *this;
}

Leases::~Leases() = default;

Leases::const_iterator Leases::begin() const noexcept {
  visited += size();
  return leases_.begin();
}

const StoredLease* Leases::find(const base::LeaseId& id) const noexcept {
  const auto place = const_cast<Leases*>(this)->place_of(id);
  return place ? std::to_address(*place) : nullptr;
}

base::TimePoint Leases::last_expiry() const noexcept {
  if (index_) {
    ++visited;
    return std::max(rest_.last_expiry, (*index_->by_end.rbegin())->expires);
  }
  base::TimePoint last = rest_.last_expiry;
  for (const StoredLease& lease : *this) {
    last = std::max(last, lease.expires);
  }
  return last;
}

std::vector<const StoredLease*> Leases::first_to_end(std::size_t count) const {
  count = std::min(count, size());
  std::vector<const StoredLease*> found;
  found.reserve(index_ ? count : size());
  if (index_) {
    visited += count;
    for (auto next = index_->by_end.begin(); found.size() < count; ++next) {
      found.push_back(&**next);
    }
    return found;
  }
  for (const StoredLease& lease : *this) {
    found.push_back(&lease);
  }
  std::ranges::sort(found, [](auto* one, auto* two) { return EndsBefore{}(*one, *two); });
  found.resize(count);
  return found;
}

std::vector<const StoredLease*> Leases::last_to_end(std::size_t count) const {
  count = std::min(count, size());
  std::vector<const StoredLease*> found;
  if (index_) {
    visited += count;
    found.reserve(count);
    for (auto next = index_->by_end.rbegin(); found.size() < count; ++next) {
      found.push_back(&**next);
    }
    return found;
  }
  found = first_to_end(size());
  std::ranges::reverse(found);
  found.resize(count);
  return found;
}

const StoredLease& Leases::insert(StoredLease lease) {
  ++visited;
  leases_.push_back(std::move(lease));
  used_ += leases_.back().permits;
  try {
    if (index_) {
      index_->add(std::prev(leases_.end()));
    } else if (leases_.size() > kPlain) {
      make_index();
    }
  } catch (const std::bad_alloc&) {
    index_.reset();  // slower, but right: the next insert makes it again
  }
  return leases_.back();
}

void Leases::erase(base::LeaseId id) {
  while (const auto place = place_of(id)) {
    remove(*place);
  }
}

void Leases::extend(const base::LeaseId& id, base::TimePoint expires) {
  const auto place = place_of(id);
  if (place && index_) {
    index_->move(*place, expires);
  } else if (place) {
    (*place)->expires = expires;
  }
}

void Leases::drop_ended(base::TimePoint now) {
  while (index_ && (*index_->by_end.begin())->expires <= now) {
    remove(*index_->by_end.begin());
  }
  if (index_) {
    return;
  }
  visited += size();
  leases_.remove_if([&](const StoredLease& lease) {
    const bool has_ended = lease.expires <= now;
    used_ -= has_ended ? lease.permits : 0;
    return has_ended;
  });
}

void Leases::clear() noexcept {
  index_.reset();
  leases_.clear();
  used_ = 0;
  rest_ = {};
}

std::uint64_t Leases::visits() noexcept { return visited; }

std::optional<Leases::Place> Leases::place_of(const base::LeaseId& id) noexcept {
  if (index_) {
    ++visited;
    const auto found = index_->by_id.find(id);
    return found != index_->by_id.end() ? std::optional(found->second) : std::nullopt;
  }
  visited += size();
  const auto found = std::ranges::find(leases_, id, &StoredLease::id);
  return found != leases_.end() ? std::optional(found) : std::nullopt;
}

void Leases::make_index() {
  index_ = std::make_unique<Index>();
  for (auto place = leases_.begin(); place != leases_.end(); ++place) {
    index_->add(place);
  }
}

void Leases::remove(Place place) {
  ++visited;
  used_ -= place->permits;
  if (index_) {
    index_->remove(place);
  }
  leases_.erase(place);
  // Half as many as make an index: a name whose leases come and go does not make it again and
  // again.
  if (leases_.size() <= kPlain / 2) {
    index_.reset();
  }
}

}  // namespace holdfast::store
