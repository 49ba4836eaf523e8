#include <holdfast/store/prefixed_store.h>

#include <utility>
#include <vector>

#include <holdfast/base/try.h>
#include <holdfast/store/async_lease_store.h>
#include <holdfast/store/waiting_name.h>

namespace holdfast::store {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::LeaseId;
using base::Name;
using base::Result;

// The names of a caller and those that the store keeps for it. The mark of a reserved name stays in
// front, so that the waiters of all prefixes are listed together.
class Prefix {
 public:
  explicit Prefix(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string before(std::string_view name) const {
    return std::string(name.substr(0, mark_of(name)))
        .append(text_)
        .append(name.substr(mark_of(name)));
  }

  // Returns the state under the caller's name.
  [[nodiscard]] Result<NameState> without(NameState state) const {
    const std::string_view name = state.name.view();
    std::string ours(name.substr(0, mark_of(name)));
    HOLDFAST_TRY_LET(state.name,
                     Name::make(ours.append(name.substr(mark_of(name) + text_.size()))));
    return state;
  }

  [[nodiscard]] Result<std::optional<NameState>> without(
      Result<std::optional<NameState>> state) const {
    if (!state || !*state) return state;
    return without(**std::move(state));
  }

  // Returns true for the one name that the store may list and a caller cannot have.
  [[nodiscard]] bool is_all_of(const Name& name) const noexcept { return name.view() == text_; }

 private:
  // Returns how many bytes of the name are the mark of a reserved one.
  [[nodiscard]] static std::size_t mark_of(std::string_view name) noexcept {
    return is_waiting_name(name) ? kWaitingPrefix.size() : 0;
  }

  std::string text_;
};

class PrefixedAsyncStore final : public AsyncLeaseStore {
 public:
  PrefixedAsyncStore(AsyncLeaseStore& store, const Prefix& prefix)
      : store_(store), prefix_(prefix) {}

 private:
  void start_claim(const Name& name, const Claim& claim, Deadline deadline,
                   Callback<ClaimOutcome> callback) override {
    store_.claim(prefix_.before(name.view()), claim, deadline, std::move(callback));
  }

  void start_transfer(const Name& name, const LeaseId& from, const Claim& to, Deadline deadline,
                      Callback<TransferOutcome> callback) override {
    store_.transfer(prefix_.before(name.view()), from, to, deadline, std::move(callback));
  }

  void start_release(const Name& name, const LeaseId& id, Deadline deadline,
                     Callback<ReleaseOutcome> callback) override {
    store_.release(prefix_.before(name.view()), id, deadline, std::move(callback));
  }

  void start_look(const Name& name, Deadline deadline,
                  Callback<std::optional<NameState>> callback) override {
    store_.look(
        prefix_.before(name.view()), deadline,
        [prefix = prefix_, callback = std::move(callback)](Result<std::optional<NameState>> state) {
          callback(prefix.without(std::move(state)));
        });
  }

  void start_hit(const Name& name, const Hit& hit, Deadline deadline,
                 Callback<HitOutcome> callback) override {
    store_.hit(prefix_.before(name.view()), hit, deadline, std::move(callback));
  }

  AsyncLeaseStore& store_;
  const Prefix& prefix_;
};

class PrefixedStore final : public LeaseStore {
 public:
  PrefixedStore(std::shared_ptr<LeaseStore> store, std::string_view prefix)
      : store_(std::move(store)), prefix_(prefix) {
    if (AsyncLeaseStore* const async = store_->async()) async_.emplace(*async, prefix_);
  }

  [[nodiscard]] Capabilities capabilities() const override { return store_->capabilities(); }
  [[nodiscard]] LeaseDefaults lease_defaults() const override { return store_->lease_defaults(); }
  [[nodiscard]] AsyncLeaseStore* async() noexcept override { return async_ ? &*async_ : nullptr; }

 private:
  Result<ClaimOutcome> do_claim(const Name& name, const Claim& claim, Deadline deadline) override {
    return store_->claim(prefix_.before(name.view()), claim, deadline);
  }

  Result<std::vector<RenewOutcome>> do_renew(std::span<const Renewal> renewals,
                                             Deadline deadline) override {
    std::vector<std::string> names;
    names.reserve(renewals.size());  // the renewals borrow them
    std::vector<Renewal> prefixed(renewals.begin(), renewals.end());
    for (Renewal& renewal : prefixed) {
      renewal.name = names.emplace_back(prefix_.before(renewal.name));
    }
    return store_->renew(prefixed, deadline);
  }

  Result<TransferOutcome> do_transfer(const Name& name, const LeaseId& from, const Claim& to,
                                      Deadline deadline) override {
    return store_->transfer(prefix_.before(name.view()), from, to, deadline);
  }

  Result<ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                    Deadline deadline) override {
    return store_->release(prefix_.before(name.view()), id, deadline);
  }

  Result<std::optional<NameState>> do_look(const Name& name, Deadline deadline) override {
    return prefix_.without(store_->look(prefix_.before(name.view()), deadline));
  }

  Result<Page> do_list(std::string_view prefix, const PageRequest& request,
                       Deadline deadline) override {
    HOLDFAST_TRY_LET(Page page, store_->list(prefix_.before(prefix), request, deadline));
    std::vector<NameState> names;
    names.reserve(page.names.size());
    for (NameState& state : page.names) {
      if (prefix_.is_all_of(state.name)) continue;
      HOLDFAST_TRY_LET(NameState ours, prefix_.without(std::move(state)));
      names.push_back(std::move(ours));
    }
    page.names = std::move(names);
    return page;
  }

  Result<HitOutcome> do_hit(const Name& name, const Hit& hit, Deadline deadline) override {
    return store_->hit(prefix_.before(name.view()), hit, deadline);
  }

  Result<Watch> do_watch(const Name& name, WatchCallback callback) override {
    return store_->watch(prefix_.before(name.view()), std::move(callback));
  }

  const std::shared_ptr<LeaseStore> store_;
  const Prefix prefix_;
  std::optional<PrefixedAsyncStore> async_;
};

}  // namespace

Result<std::shared_ptr<LeaseStore>> with_prefix(std::shared_ptr<LeaseStore> store,
                                                std::string_view prefix) {
  if (store == nullptr) return fail(ErrorCode::invalid_argument, "the store is null");
  if (prefix.empty()) return store;
  if (prefix.size() >= Name::kMaxSize) {
    return fail(ErrorCode::invalid_argument,
                "the prefix leaves no room for a name: it may have up to 1,023 bytes");
  }
  return std::make_shared<PrefixedStore>(std::move(store), prefix);
}

}  // namespace holdfast::store
