#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/outcome.h>

namespace holdfast::engines::redis::internal {

// The claims of this store that stand in the queue of a name, where whoever releases the name gives
// it to them, and what they were given there.
//
// It is heard of that on another connection than the answers to claims: it may be late, and the
// lease over since. So it counts only if its token shows that it came after the claim was last
// refused, and then from when that was asked for: before that it cannot have been given.
//
// Thread-safe. Times are of base::boot_clock().
class Places {
 public:
  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0;
  }

  // Who has not asked for so long is forgotten: whoever asked may have gone without a word. The
  // server forgets it, too.
  static constexpr base::Duration kForgotten = std::chrono::seconds(60);

  // Before the claim is sent, at this time. `member` is what stands in the queue, and for how long
  // it is given the name. Whether it is new here.
  bool enter(std::string_view name, const base::LeaseId& id, std::string member,
             base::Duration lasts, base::TimePoint now);
  // The answer to a claim that was sent at that time. The name had this token; none if a program
  // that is not Holdfast has it. Whether it stands here.
  bool refuse(std::string_view name, const base::LeaseId& id, base::TimePoint sent,
              std::optional<base::FencingToken> token);
  // It was given the name.
  void give(std::string_view name, const base::LeaseId& id, base::FencingToken token);

  // What it was given, if that is good for a while yet at this time: it stands there no more. If
  // not, that is forgotten.
  [[nodiscard]] std::optional<store::Grant> take(std::string_view name, const base::LeaseId& id,
                                                 base::TimePoint now);
  // As what it stands in the queue; empty if it does not.
  [[nodiscard]] std::string member(std::string_view name, const base::LeaseId& id) const;
  // It stands there no more, as far as is known here. As what it did; empty if it did not.
  std::string leave(std::string_view name, const base::LeaseId& id);

 private:
  struct Refusal {
    base::TimePoint sent;
    base::FencingToken token;
  };
  struct Place {
    std::string member;
    base::Duration lasts;
    base::TimePoint seen;                       // when it last asked
    std::optional<Refusal> refusal{};           // the last one, if its token is known
    std::optional<base::FencingToken> given{};  // at some time
  };
  using Map = std::map<std::string, Place, std::less<>>;

  // The id, then the name.
  [[nodiscard]] static std::string key(std::string_view name, const base::LeaseId& id);
  void erase(Map::iterator place);
  void forget_the_gone(base::TimePoint now);

  std::atomic<std::size_t> count_ = 0;  // of places_
  mutable std::mutex mutex_;
  // Protected by mutex_.
  Map places_;
  base::TimePoint looked_through_{};
};

}  // namespace holdfast::engines::redis::internal
