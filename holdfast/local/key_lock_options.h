#pragma once

#include <cstddef>

namespace holdfast::local {

// How a KeyLock is laid out in memory. The defaults suit most programs; none of the options changes
// what the lock promises.
struct KeyLockOptions {
  // The number of parts into which the keys are divided, each with its own latch and its own
  // memory; rounded up to a power of two, at most 65,536. Zero chooses 32 for each hardware thread,
  // from 64 to 1,024. One shard takes about 400 bytes.
  //
  // Two threads that use different keys still slow each other down when the keys share a shard. If
  // each thread works on keys of its own, and the process has several cores, choose at least as
  // many shards as there are such keys: then a key's memory stays in the cache of its thread. More
  // shards make a lock slower that one thread uses alone, by a fifth from 1,024 on.
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
