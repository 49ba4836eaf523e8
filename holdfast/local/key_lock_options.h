#pragma once

#include <cstddef>

namespace holdfast::local {

// The layout of a KeyLock in memory. The defaults suit most programs; none of the options changes
// what the lock promises.
struct KeyLockOptions {
  // The number of parts into which the keys are divided, each with its own latch and its own
  // memory; rounded up to a power of two, at most 65,536. One shard takes about 400 bytes.
  //
  // Zero chooses 32 for each hardware thread, from 64 to 1,024, and lets a shard grow: threads that
  // use different keys of one shard slow each other down, because its latch moves between their
  // processors. When that happens often, the shard gets more latches, and keeps them: 1,024 (64 KiB)
  // if there are 64 shards, 64 (4 KiB) if there are 1,024; at most 4 MiB for the whole lock. A
  // number that you choose stays as it is.
  std::size_t shards = 0;

  // Memory for at least this many keys is allocated at once, spread evenly over the shards, so that
  // the first calls do not allocate.
  std::size_t initial_entries = 0;

  // Memory for at least this many idle keys is kept for new keys; a shard without any held key
  // frees the rest. It is kept in blocks of about 250 keys (8 KiB) in each shard, so that the
  // default keeps one block in each shard that needed one. Zero frees every block of an idle shard
  // at once. `initial_entries` are always kept.
  std::size_t idle_entries = 1;
};

}  // namespace holdfast::local
