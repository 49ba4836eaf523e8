#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/store/lease_store.h>

namespace holdfast::engines {

// A store that is switched off: every operation is ErrorCode::unavailable at once. With it a
// program runs without a store where its policy allows that (recipes::DegradableProvider,
// MarkerOptions::when_unavailable), and fails where it does not. Its URL is `disabled:`.
//
// Thread-safe. It keeps nothing and never blocks.
class DisabledStore final : public store::LeaseStore {
 public:
  [[nodiscard]] store::Capabilities capabilities() const override;

 private:
  using Name = base::Name;
  using Deadline = base::Deadline;
  template <class T>
  using Result = base::Result<T>;

  static std::unexpected<base::Error> fail();

  Result<store::ClaimOutcome> do_claim(const Name&, const store::Claim&, Deadline) override {
    return fail();
  }
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal>,
                                                    Deadline) override {
    return fail();
  }
  Result<store::TransferOutcome> do_transfer(const Name&, const base::LeaseId&, const store::Claim&,
                                             Deadline) override {
    return fail();
  }
  Result<store::ReleaseOutcome> do_release(const Name&, const base::LeaseId&, Deadline) override {
    return fail();
  }
  Result<std::optional<store::NameState>> do_look(const Name&, Deadline) override { return fail(); }
  Result<store::Page> do_list(std::string_view, const store::PageRequest&, Deadline) override {
    return fail();
  }
  Result<store::HitOutcome> do_hit(const Name&, const store::Hit&, Deadline) override {
    return fail();
  }
  Result<store::Watch> do_watch(const Name&, store::WatchCallback) override { return fail(); }
};

}  // namespace holdfast::engines
