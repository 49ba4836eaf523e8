#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/engines/mongodb/internal/write_concern.h>
#include <holdfast/engines/mongodb/mongo_options.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>

namespace holdfast::engines::mongodb::internal {

// The commands of a store. Each is judged by the server's clock, or by that of a test.
//
// Thread-safe.
class Requests {
 public:
  // For tests: the time by which leases are judged instead of the server's.
  using Time = std::function<std::chrono::milliseconds()>;

  Requests(const MongoOptions& options, Time time);

  // Returns whether the answers to `claim`, `transfer` and `hit` contain the server's time: `now`
  // in the document.
  [[nodiscard]] bool answers_have_time() const noexcept { return answers_have_time_.load(); }
  // Before 4.4 they do not. Call this before the first of them.
  void set_wire_version(std::int64_t version) noexcept;

  // Returns whether the server's clock judges leases, and not the clock of a test.
  [[nodiscard]] bool follows_server_clock() const noexcept { return !time_; }

  // Their answers have the document as it is afterwards; for a hit, as it was before. Null if there
  // is none.
  [[nodiscard]] Bson claim(std::string_view id, const store::Claim& claim) const;
  [[nodiscard]] Bson transfer(std::string_view id, const base::LeaseId& from,
                              const store::Claim& to) const;
  [[nodiscard]] Bson hit(std::string_view id, const store::Hit& hit) const;

  // One renewal by itself, whose answer has the document as it is afterwards.
  [[nodiscard]] Bson renew(std::string_view id, const store::Renewal& renewal) const;

  // One change of a batch, and the batch.
  void add_renewal(Bson& updates, std::string_view id, const store::Renewal& renewal) const;
  void add_release(Bson& updates, std::string_view id, const base::LeaseId& lease) const;
  // That a lease that does not hold the name does not wait for it either.
  void add_unwait(Bson& updates, std::string_view id, const base::LeaseId& lease) const;
  [[nodiscard]] Bson update(const Bson& updates) const;

  // Documents and the time at which they were like that.
  [[nodiscard]] Bson look(const Bson& ids) const;
  // Lists the matching names that are in use, up to `limit` of them in the order of their _ids.
  [[nodiscard]] Bson list(const Bson& match, std::int64_t limit) const;

  // Changes after which a name may be free.
  [[nodiscard]] Bson watch() const;
  [[nodiscard]] Bson get_more(std::int64_t cursor) const;
  [[nodiscard]] Bson next_changes(std::int64_t cursor, std::chrono::milliseconds wait) const;

  [[nodiscard]] Bson create_index() const;
  [[nodiscard]] Bson list_indexes() const;

 private:
  // The time of one command; nothing if it is the server's.
  using Moment = std::optional<Date>;
  [[nodiscard]] Moment moment() const;
  // Adds the time as an expression.
  static void add_now(Bson& into, std::string_view key, Moment moment);
  // Returns the fields and the time as a projection.
  [[nodiscard]] static Bson fields_and_time(Moment moment);
  void add_claim(Bson& request, const store::Claim& claim) const;
  [[nodiscard]] static Bson renewal_of(const store::Renewal& renewal, Moment moment);
  [[nodiscard]] static Bson begin(const base::LeaseId& lease, Moment moment);
  enum class Shows : std::uint8_t { before, after };
  [[nodiscard]] Bson find_and_modify(std::string_view id, const Bson& request, const Bson& pipeline,
                                     Shows shows, Moment moment) const;
  void add_update(Bson& updates, std::string_view id, const Bson& request,
                  const Bson& pipeline) const;
  // The stages, then the fields that a record has, and the time.
  [[nodiscard]] Bson aggregate(const Bson& stages, std::int64_t batch, Moment moment) const;

  const std::string collection_;
  const WriteConcern write_concern_;
  const base::Duration retention_;
  std::atomic<bool> answers_have_time_ = true;
  const Time time_;
};

}  // namespace holdfast::engines::mongodb::internal
