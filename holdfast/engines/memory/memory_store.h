#pragma once

#include <memory>

#include <holdfast/base/clock.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::memory {

struct MemoryOptions {
  // The store's clock; outlives it.
  const base::Clock* clock = &base::steady_clock();
  // From one removal of expired leases to the next; zero for none: they then stay until their name
  // is used again.
  base::Duration sweep_every = std::chrono::minutes(1);
};

// Leases in this process's memory: for a single process, for tests, and as a fallback.
//
// Thread-safe; nothing blocks for longer than another thread's call. Names are spread over shards
// with a lock each; a sweep and a listing hold it for a few names at a time. A listing visits every
// name once, for its first page, and remembers the names for the next pages. In a forked child the
// destructor does nothing. A released or swept name leaves nothing behind; its tokens still grow,
// because each shard remembers the greatest token that it has forgotten.
class MemoryStore final : public store::LeaseStore {
 public:
  explicit MemoryStore(MemoryOptions options = {});
  ~MemoryStore() override;

  [[nodiscard]] store::Capabilities capabilities() const override;
  // Returns the number of names, including those with only expired leases.
  [[nodiscard]] std::size_t size() const;
  // Forgets names whose leases have all expired; how many.
  std::size_t sweep_now();

 private:
  class Shards;

  base::Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& claim,
                                             base::Deadline deadline) override;
  base::Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                          base::Deadline deadline) override;
  base::Result<store::TransferOutcome> do_transfer(const base::Name& name,
                                                   const base::LeaseId& from,
                                                   const store::Claim& to,
                                                   base::Deadline deadline) override;
  base::Result<store::ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                                 base::Deadline deadline) override;
  base::Result<std::optional<store::NameState>> do_look(const base::Name& name,
                                                        base::Deadline deadline) override;
  base::Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                                    base::Deadline deadline) override;
  base::Result<store::HitOutcome> do_hit(const base::Name& name, const store::Hit& hit,
                                         base::Deadline deadline) override;
  base::Result<store::Watch> do_watch(const base::Name& name,
                                      store::WatchCallback callback) override;

  std::unique_ptr<Shards> shards_;
  const base::ProcessMark process_;
};

}  // namespace holdfast::engines::memory
