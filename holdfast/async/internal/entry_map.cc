#include <holdfast/async/internal/entry_map.h>

#include <utility>

namespace holdfast::async::internal {

EntryMap::~EntryMap() {
  while (spare_ != nullptr) {
    const std::unique_ptr<KeyEntry> gone(std::exchange(spare_, spare_->next));
  }
}

KeyEntry* EntryMap::find(std::string_view key, std::size_t hash) const {
  KeyEntry* entry = buckets()[hash & (bucket_count_ - 1)];
  while (entry != nullptr && (entry->hash != hash || entry->key != key)) {
    entry = entry->next;
  }
  return entry;
}

KeyEntry& EntryMap::insert(std::string_view key, std::size_t hash) {
  std::unique_ptr<KeyEntry> entry = make_entry(key);
  if (size_ == bucket_count_) {
    grow();
  }
  entry->hash = hash;
  KeyEntry*& first = bucket(hash);
  entry->next = first;
  first = entry.release();
  ++size_;
  return *first;
}

void EntryMap::erase(KeyEntry& entry) noexcept {
  KeyEntry** link = &bucket(entry.hash);
  while (*link != &entry) {
    link = &(*link)->next;
  }
  *link = entry.next;
  if (--size_ == 0 && many_buckets_ != nullptr) {
    many_buckets_.reset();
    bucket_count_ = kFewBuckets;
  }
  if (spare_count_ == kMostSpare || entry.key.capacity() > kMostSpareBytes) {
    const std::unique_ptr<KeyEntry> gone(&entry);
    return;
  }
  entry.next = std::exchange(spare_, &entry);
  ++spare_count_;
}

std::span<KeyEntry* const> EntryMap::buckets() const {
  return {many_buckets_ != nullptr ? many_buckets_.get() : few_buckets_.data(), bucket_count_};
}

KeyEntry*& EntryMap::bucket(std::size_t hash) {
  KeyEntry** const first = many_buckets_ != nullptr ? many_buckets_.get() : few_buckets_.data();
  return first[hash & (bucket_count_ - 1)];
}

std::unique_ptr<KeyEntry> EntryMap::make_entry(std::string_view key) {
  if (spare_ == nullptr) {
    auto entry = std::make_unique<KeyEntry>();
    entry->key = key;
    return entry;
  }
  // The key first: if there is no memory for it, the entry stays in place.
  spare_->key = key;
  --spare_count_;
  return std::unique_ptr<KeyEntry>(std::exchange(spare_, spare_->next));
}

void EntryMap::grow() {
  const std::size_t count = bucket_count_ * 2;
  auto grown = std::make_unique<KeyEntry*[]>(count);
  for (KeyEntry* entry : buckets()) {
    while (entry != nullptr) {
      KeyEntry*& first = grown[entry->hash & (count - 1)];
      KeyEntry* const next = std::exchange(entry->next, first);
      first = std::exchange(entry, next);
    }
  }
  few_buckets_.fill(nullptr);
  many_buckets_ = std::move(grown);
  bucket_count_ = count;
}

}  // namespace holdfast::async::internal
