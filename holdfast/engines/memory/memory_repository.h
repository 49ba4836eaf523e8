#pragma once

#include <cstddef>
#include <memory>

#include <holdfast/base/clock.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::memory {

struct MemoryRepositoryOptions {
  // Says how long ago an object was erased; outlives the repository.
  const base::Clock* clock = &base::steady_clock();
  // The time for which the token of a key without data is remembered after its last use. Longer
  // than a holder whose lease has ended may still be at work.
  base::Duration retention = std::chrono::minutes(10);
};

// Objects in this process's memory: for tests, and for objects that may go with the process.
//
// Thread-safe; nothing blocks for longer than another thread's call. Keys are spread over shards
// with a lock each. What was erased without a token leaves nothing behind. What was erased with
// one, or loaded and not found, leaves its token behind for `retention`; each later operation
// drops a few that are older, so no more are kept than were used in that time.
class MemoryRepository final : public store::ObjectRepository {
 public:
  explicit MemoryRepository(MemoryRepositoryOptions options = {});
  ~MemoryRepository() override;

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override;
  // Returns the number of keys, including those of which only the token is left.
  [[nodiscard]] std::size_t size() const;

 private:
  class Shards;

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

  const std::unique_ptr<Shards> shards_;
};

}  // namespace holdfast::engines::memory
