#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <holdfast/local/internal/trash.h>

namespace holdfast::local::internal {

// Memory for the entries of one shard, in slabs that are freed when they are empty.
// `Entry` has `Entry* next` and is trivially constructible. Not thread-safe.
//
// The hot part is a list of free entries (`EntryCache`), which the shard keeps next to its
// lock; the slabs (`EntryPool`) are touched only when the cache runs empty or full. An entry in the
// cache counts as used in its slab.
template <class Entry>
struct EntryCache {
  Entry* head = nullptr;
  std::uint16_t count = 0;
  // Nonzero while the pool holds more slabs than an idle shard keeps.
  std::uint16_t has_spare_slabs = 0;

  void push(Entry* entry) noexcept {
    entry->next = head;
    head = entry;
    ++count;
  }
  Entry* pop() noexcept {
    Entry* const entry = head;
    head = entry->next;
    --count;
    return entry;
  }
};

template <class Entry>
class EntryPool {
 private:
  struct Slab {
    Slab* previous;
    Slab* next;
    Entry* free;
    std::uint32_t used;
  };
  // A slab is aligned to its size, so that an entry's address determines its slab. Malloc's own
  // header fits between two slabs.
  static constexpr std::size_t kSlabAlign = 8192;
  static constexpr std::size_t kSlabBytes = kSlabAlign - 2 * sizeof(void*);
  static constexpr std::size_t kFirstEntry =
      (sizeof(Slab) + alignof(Entry) - 1) / alignof(Entry) * alignof(Entry);

 public:
  static constexpr std::uint32_t kPerSlab =
      static_cast<std::uint32_t>((kSlabBytes - kFirstEntry) / sizeof(Entry));

  // The `resident` entries belong to the shard itself and stay in the cache for ever.
  EntryPool(Entry* resident, std::size_t resident_count, EntryCache<Entry>& cache) noexcept
      : resident_(resident), resident_end_(resident + resident_count) {
    for (Entry* entry = resident_end_; entry != resident_;) {
      cache.push(--entry);
    }
  }
  EntryPool(const EntryPool&) = delete;
  EntryPool& operator=(const EntryPool&) = delete;
  ~EntryPool() {
    free_all(partial_);
    free_all(full_);
  }

  // Keeps the slabs for this many entries when they are empty, rounded up; one slab by default.
  void keep(std::size_t entries) noexcept { kept_slabs_ = slabs_for(entries); }
  // Allocates slabs for this many entries. Throws std::bad_alloc.
  void reserve(std::size_t entries) {
    while (slab_count_ < slabs_for(entries)) {
      add_slab();
    }
  }

  // Fills the empty cache. Throws std::bad_alloc with nothing changed.
  void refill(EntryCache<Entry>& cache) {
    if (partial_ == nullptr) {
      add_slab();
      cache.has_spare_slabs = has_spare_slabs();
    }
    Slab* const slab = partial_;
    cache.head = slab->free;
    cache.count = static_cast<std::uint16_t>(kPerSlab - slab->used);
    slab->free = nullptr;
    slab->used = kPerSlab;
    unlink(partial_, slab);
    link(full_, slab);
  }

  // Returns whether the cache holds so many entries that `drain` should take some of them back.
  [[nodiscard]] static bool is_full(const EntryCache<Entry>& cache) noexcept {
    return cache.count > 2 * kPerSlab;
  }

  // Takes back surplus entries, and all of them when no entry is in use. Call it after adding an
  // entry to the cache.
  [[gnu::noinline]] void trim(EntryCache<Entry>& cache, std::size_t in_use, Trash& trash) noexcept {
    if (in_use == 0 || is_full(cache)) {
      drain(cache, in_use == 0 ? 0 : kPerSlab, trash);
    }
  }

  // Returns entries to their slabs until `keep` are left; empty slabs that the pool does not keep
  // go to the trash.
  void drain(EntryCache<Entry>& cache, std::size_t keep, Trash& trash) noexcept {
    EntryCache<Entry> kept;
    while (cache.count > 0 && cache.count + kept.count > keep) {
      Entry* const entry = cache.pop();
      if (entry >= resident_ && entry < resident_end_) {
        kept.push(entry);
      } else {
        give_back(entry, trash);
      }
    }
    while (kept.count > 0) {
      cache.push(kept.pop());
    }
    cache.has_spare_slabs = has_spare_slabs();
  }

 private:
  static std::size_t slabs_for(std::size_t entries) noexcept {
    return (entries + kPerSlab - 1) / kPerSlab;
  }
  [[nodiscard]] std::uint16_t has_spare_slabs() const noexcept {
    return slab_count_ > kept_slabs_ ? 1 : 0;
  }
  static Slab* slab_of(Entry* entry) noexcept {
    return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(entry) & ~(kSlabAlign - 1));
  }

  void add_slab() {
    void* block = nullptr;
    if (posix_memalign(&block, kSlabAlign, kSlabBytes) != 0) {
      throw std::bad_alloc();
    }
    Slab* const slab = new (block) Slab{nullptr, nullptr, nullptr, 0};
    char* const first = static_cast<char*>(block) + kFirstEntry;
    for (std::uint32_t i = kPerSlab; i-- > 0;) {
      Entry* const entry = new (first + i * sizeof(Entry)) Entry;
      entry->next = slab->free;
      slab->free = entry;
    }
    link(partial_, slab);
    ++slab_count_;
  }

  void give_back(Entry* entry, Trash& trash) noexcept {
    Slab* const slab = slab_of(entry);
    if (slab->free == nullptr) {
      unlink(full_, slab);
      link(partial_, slab);
    }
    entry->next = slab->free;
    slab->free = entry;
    if (--slab->used == 0 && slab_count_ > kept_slabs_) {
      unlink(partial_, slab);
      --slab_count_;
      trash.add(slab);
    }
  }

  static void link(Slab*& list, Slab* slab) noexcept {
    slab->previous = nullptr;
    slab->next = list;
    if (list != nullptr) {
      list->previous = slab;
    }
    list = slab;
  }

  static void unlink(Slab*& list, Slab* slab) noexcept {
    (slab->previous != nullptr ? slab->previous->next : list) = slab->next;
    if (slab->next != nullptr) {
      slab->next->previous = slab->previous;
    }
  }

  static void free_all(Slab* list) noexcept {
    while (list != nullptr) {
      Slab* const next = list->next;
      std::free(list);
      list = next;
    }
  }

  Entry* const resident_;
  Entry* const resident_end_;
  Slab* partial_ = nullptr;  // slabs with free entries
  Slab* full_ = nullptr;     // slabs without
  std::size_t slab_count_ = 0;
  std::size_t kept_slabs_ = 1;
};

}  // namespace holdfast::local::internal
