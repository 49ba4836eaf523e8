#pragma once

#include <memory>

#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::redis {

// The objects of all machines that share a Redis server (7 or later, or Valkey).
//
// Thread-safe: all threads share one pipelined connection. In a forked child everything fails with
// ErrorCode::unsupported.
//
// Each operation is one script on the server, and one round trip, a batch included, unless it has
// more than 64 MiB. It blocks until its deadline; without one, until the server counts as dead
// (RedisOptions::reply_timeout).
//
// What was saved survives this process. What survives the server's end, or its loss, is up to its
// settings: docs/engines/redis.md. It must not evict: maxmemory-policy noeviction.
//
// What was erased with a token, or loaded with one and not found, leaves its token behind for
// RedisOptions::retention by the server's clock, and then expires.
//
// In a cluster all objects of a type are in one slot: those of another node, and a batch
// all_or_none of types in several slots, are ErrorCode::unsupported.
//
// Beyond the errors of ObjectRepository: limit_exceeded for a batch all_or_none of more than
// 256 MiB; conflict, if a key of another type is in the object's place.
//
//   auto repository = RedisRepository::open({.host = "redis.example"});
class RedisRepository final : public store::ObjectRepository {
 public:
  // Connects with the first operation: a server that cannot be reached, or lets nobody in, is an
  // error of that, and it is tried again with the next one.
  [[nodiscard]] static base::Result<std::unique_ptr<RedisRepository>> open(RedisOptions options);
  ~RedisRepository() override;

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override;

 private:
  class Requests;

  explicit RedisRepository(std::unique_ptr<Requests> requests);

  base::Result<store::LoadOutcome> do_load(const store::ObjectKey& key, base::FencingToken token,
                                           base::Deadline deadline) override;
  base::Result<std::vector<store::SaveOutcome>> do_save(std::span<const store::ObjectSave> saves,
                                                        store::Batch batch,
                                                        base::Deadline deadline) override;
  base::Result<store::EraseOutcome> do_erase(const store::ObjectKey& key, base::FencingToken token,
                                             base::Deadline deadline) override;
  base::Result<store::IdPage> do_list(std::string_view type, std::string_view prefix,
                                      std::size_t limit, std::string_view after,
                                      base::Deadline deadline) override;

  std::unique_ptr<Requests> requests_;
};

}  // namespace holdfast::engines::redis
