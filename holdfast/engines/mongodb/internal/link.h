#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/engines/mongodb/internal/client.h>
#include <holdfast/engines/mongodb/mongo_options.h>

namespace holdfast::engines::mongodb::internal {

// The answer to a command.
struct Answer {
  Bson reply;
  // An earlier attempt may have been done already: this is the answer to a repetition.
  bool is_repeated = false;
};

// The way to the server: a few clients, shared by all threads, and patience with a server that
// steps down, goes away and comes back.
//
// Thread-safe. Blocks until the deadline; without one, until MongoOptions::reply_timeout has
// passed. A server that has never answered, and that no connection can be made to, is given up when
// MongoOptions::connect_timeout has passed: its address is probably wrong. In a forked child
// everything is ErrorCode::unsupported.
//
// Errors: unavailable, if nothing was done; unknown_outcome, if that is not known; corrupt, if the
// reply is not one to the command; what the server refuses is final (see trouble.h).
class Link {
 public:
  // Says if a command whose outcome is unknown may be sent again.
  enum class Repeat : std::uint8_t { yes, no };

  // Understands the options and loads the driver. Connects when it is first used.
  [[nodiscard]] static base::Result<std::unique_ptr<Link>> open(MongoOptions options);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] base::Result<Answer> write(const Bson& command, Repeat repeat,
                                           base::Deadline deadline);
  [[nodiscard]] base::Result<Bson> read(const Bson& command, base::Deadline deadline);
  // The reply to a query, whose documents are all in its first batch.
  [[nodiscard]] base::Result<Bson> query(const Bson& command, base::Deadline deadline);
  // Returns the results of a command with a cursor: one reply for each batch. `get_more` makes the
  // command for the next one.
  [[nodiscard]] base::Result<std::vector<Bson>> read_batches(
      const Bson& command, const std::function<Bson(std::int64_t)>& get_more,
      base::Deadline deadline);

  [[nodiscard]] const MongoOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  // Asks the server for its description of itself.
  [[nodiscard]] base::Result<Greeting> greet(base::Deadline deadline);
  [[nodiscard]] base::Result<void> check_process() const;

 private:
  Link(MongoOptions options, Address address)
      : options_(std::move(options)), address_(std::move(address)) {}

  // Tries again and again. `attempt` is given a client.
  template <class Attempt>
  base::Result<Answer> persist(Repeat repeat, base::Deadline deadline, const Attempt& attempt);
  template <class Attempt>
  base::Result<Bson> persist_reading(base::Deadline deadline, const Attempt& attempt);
  base::Result<std::unique_ptr<Client>> borrow(base::Deadline deadline);
  void give_back(std::unique_ptr<Client> client);
  // It is of no use, and the others that are idle probably neither.
  void discard(std::unique_ptr<Client> client);

  const MongoOptions options_;
  const Address address_;
  const base::ProcessMark process_;
  std::atomic<bool> has_answered_ = false;

  base::Mutex mutex_;
  base::ConditionVariable returned_;
  // The last one used is last.
  std::vector<std::unique_ptr<Client>> idle_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t lent_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

// The number of the cursor in a reply; zero if there is no more.
[[nodiscard]] std::int64_t cursor_of(const Bson& reply);

// Calls back for each document of a batch.
void for_each_document(const Bson& reply, const std::function<void(const BsonValue&)>& callback);

}  // namespace holdfast::engines::mongodb::internal
