#pragma once

#include <memory>

#include <holdfast/engines/mongodb/mongo_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::mongodb {

// The objects of all machines that share a MongoDB server, replica set or sharded cluster (4.2 or
// later): a document each, in the collection MongoOptions::objects.
//
// Thread-safe: each thread in an operation uses a connection of its own, from a pool. In a forked
// child everything fails with ErrorCode::unsupported.
//
// Each load, save and erase is one atomic update on the server; the saves of a batch go there
// together, but are not one step: all_or_none is not supported. It blocks until its deadline;
// without one, until MongoOptions::reply_timeout has passed. A server that steps down, or goes away
// and comes back, is asked again meanwhile.
//
// What was saved survives this process, and what else the write concern promises:
// docs/engines/mongodb.md.
//
// What was erased with a token, or loaded with one and not found, leaves its token behind for
// MongoOptions::retention by the server's clock, until the TTL index removes it.
//
// Beyond the errors of ObjectRepository: conflict, if a document that is not an object is in its
// place.
//
//   auto repository = MongoRepository::open({.uri = "mongodb://db.example", .database = "app"});
class MongoRepository final : public store::ObjectRepository {
 public:
  // Options that cannot be are an error. Connects when it is first used: a server that is not there
  // yet is ErrorCode::unavailable then.
  [[nodiscard]] static base::Result<std::unique_ptr<MongoRepository>> open(MongoOptions options);
  ~MongoRepository() override;

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override;

 private:
  class Engine;

  explicit MongoRepository(std::unique_ptr<Engine> engine);

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

  const std::unique_ptr<Engine> engine_;
};

}  // namespace holdfast::engines::mongodb
