#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>

#include "bench/local/contender.h"
#include "bench/local/contenders/cuckoo.h"
#include "bench/local/contenders/holdfast.h"
#include "bench/local/contenders/map.h"
#include "bench/local/contenders/tbb.h"
#include "bench/local/leasing.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

namespace {

// Returns the bytes in use from malloc, malloc's own headers included.
std::size_t heap_in_use() {
  ::malloc_trim(0);
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// oneTBB's own allocator is not malloc, and heap_in_use() would not see it.
using MallocTbbKeyLock = TbbKeyLock<std::allocator>;
using MallocTbbLeases = TbbLeases<std::allocator>;

// Holds all keys at the same time. Its memory is allocated in advance, and so never counts.
template <ExclusiveContender T>
class AllKeys {
 public:
  explicit AllKeys(const Keys& keys)
      : keys_(keys), guards_(std::allocator<Guard>{}.allocate(keys.size())) {}
  ~AllKeys() { std::allocator<Guard>{}.deallocate(guards_, keys_.size()); }
  AllKeys(const AllKeys&) = delete;
  AllKeys& operator=(const AllKeys&) = delete;

  void take(T& locks) {
    // Constructed in place, because not every guard can be moved.
    for (std::size_t i = 0; i < keys_.size(); ++i) new (guards_ + i) Guard(locks.lock(keys_[i]));
  }
  void release(T&) { std::destroy_n(guards_, keys_.size()); }

 private:
  using Guard = decltype(std::declval<T&>().lock(std::string{}));

  const Keys& keys_;
  Guard* const guards_;
};

template <LeaseContender T>
class AllLeases {
 public:
  explicit AllLeases(const Keys& keys) : keys_(keys) {}

  void take(T& leases) { lease_all(leases, keys_, kLongTtl); }
  void release(T& leases) { unlease_all(leases, keys_); }

 private:
  const Keys& keys_;
};

// Counts from before the contender exists, so its size when empty counts, too. One run is enough:
// memory does not vary as time does.
template <class Contender, template <class> class All>
Row measure(std::string_view structure, const Workload& workload, const Context& context) {
  context.progress.show(fmt::format("{}: {}, {}", workload.name, structure, Contender::kName));
  All<Contender> all(context.keys);
  const std::size_t before = heap_in_use();
  const auto per_key = [&] {
    return (static_cast<double>(heap_in_use()) - static_cast<double>(before)) /
           static_cast<double>(context.keys.size());
  };
  Contender contender;
  all.take(contender);
  const double held = per_key();
  all.release(contender);
  const double after = per_key();
  return {workload.name, 1, Contender::kName, Memory{structure, held, after}};
}

}  // namespace

Rows run_memory(const Workload& self, const Context& context) {
  return {
      measure<HoldfastKeyLock, AllKeys>(kKeyLock, self, context),
      measure<MallocTbbKeyLock, AllKeys>(kKeyLock, self, context),
      measure<MapKeyLock, AllKeys>(kKeyLock, self, context),
      measure<HoldfastLeases, AllLeases>(kLeaseTable, self, context),
      measure<MallocTbbLeases, AllLeases>(kLeaseTable, self, context),
      measure<MapLeases, AllLeases>(kLeaseTable, self, context),
      measure<CuckooLeases, AllLeases>(kLeaseTable, self, context),
  };
}

}  // namespace holdfast::bench
