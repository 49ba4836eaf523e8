#include <holdfast/engines/mongodb/internal/link.h>

#include <algorithm>
#include <thread>

#include <holdfast/base/random.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;

// Between two attempts: grows from the one to the other, and is never the same twice.
constexpr base::Duration kShortestPause = std::chrono::milliseconds(2);
constexpr base::Duration kLongestPause = std::chrono::milliseconds(250);

base::Duration jittered(base::Duration pause) {
  return pause / 2 + base::Duration(static_cast<base::Duration::rep>(
                         base::random_u64() % static_cast<std::uint64_t>(pause.count())));
}

bool has_documents(const Bson& reply) {
  const auto cursor = reply.find("cursor");
  const auto first = cursor ? cursor->find("firstBatch") : std::nullopt;
  const auto next = cursor ? cursor->find("nextBatch") : std::nullopt;
  return (first && first->is_array()) || (next && next->is_array());
}

std::unexpected<base::Error> no_documents() {
  return fail(ErrorCode::corrupt, "the server's reply to a query has no documents, not even none");
}

}  // namespace

Result<std::unique_ptr<Link>> Link::open(MongoOptions options) {
  HOLDFAST_TRY_LET(auto address, Address::make(options));
  return std::unique_ptr<Link>(new Link(std::move(options), std::move(address)));
}

Result<Greeting> Link::greet(Deadline deadline) {
  Greeting greeting;
  auto greeted = persist_reading(
      deadline, [&](Client& client, Deadline limit) -> std::expected<Bson, Trouble> {
        HOLDFAST_TRY_LET(auto said, client.greet(limit));
        greeting = std::move(said);
        return Bson();
      });
  if (!greeted) {
    return std::unexpected(std::move(greeted).error());
  }
  return greeting;
}

Link::~Link() {
  if (process_.is_inherited()) {
    for (auto& client : idle_) {
      Client::abandon(std::move(client));
    }
  }
}

Result<void> Link::check_process() const {
  if (process_.is_inherited()) {
    return fail(ErrorCode::unsupported,
                "this store belongs to the process that this one was forked from");
  }
  return {};
}

Result<Answer> Link::write(const Bson& command, Repeat repeat, Deadline deadline) {
  return persist(repeat, deadline,
                 [&](Client& client, Deadline limit) { return client.write(command, limit); });
}

Result<Bson> Link::read(const Bson& command, Deadline deadline) {
  return persist_reading(
      deadline, [&](Client& client, Deadline limit) { return client.read(command, limit); });
}

Result<Bson> Link::query(const Bson& command, Deadline deadline) {
  auto reply = read(command, deadline);
  if (reply && !has_documents(*reply)) {
    return no_documents();
  }
  return reply;
}

// All by one client: a cursor belongs to the session that has opened it.
Result<std::vector<Bson>> Link::read_batches(const Bson& command,
                                             const std::function<Bson(std::int64_t)>& get_more,
                                             Deadline deadline) {
  std::vector<Bson> batches;
  auto read = persist_reading(
      deadline, [&](Client& client, Deadline limit) -> std::expected<Bson, Trouble> {
        batches.clear();
        std::size_t bytes = 0;
        auto reply = client.read(command, limit);
        while (reply) {
          bytes += reply->get()->len;
          batches.push_back(*std::move(reply));
          const std::int64_t cursor = cursor_of(batches.back());
          if (cursor == 0) {
            return Bson();
          }
          if (bytes > Patience::kMostBytes) {
            return std::unexpected(Trouble{.connection_is_bad = true,
                                           .code = Trouble::kTooLong,
                                           .message = "the documents of one query"});
          }
          reply = client.read(get_more(cursor), limit);
        }
        return reply;
      });
  if (!read) {
    return std::unexpected(std::move(read).error());
  }
  if (!std::ranges::all_of(batches, has_documents)) {
    return no_documents();
  }
  return batches;
}

template <class Attempt>
Result<Bson> Link::persist_reading(Deadline deadline, const Attempt& attempt) {
  auto answer = persist(Repeat::yes, deadline, attempt);
  if (!answer) {
    // A read changes nothing, whatever became of it.
    base::Error error = std::move(answer).error();
    if (error.code == ErrorCode::unknown_outcome) {
      error.code = ErrorCode::unavailable;
    }
    return std::unexpected(std::move(error));
  }
  return std::move(answer->reply);
}

template <class Attempt>
Result<Answer> Link::persist(Repeat repeat, Deadline deadline, const Attempt& attempt) {
  HOLDFAST_TRY(check_process());
  const auto& clock = base::steady_clock();
  const Deadline until =
      deadline.is_never() ? Deadline::after(clock, options_.reply_timeout) : deadline;
  const Deadline until_met = std::min(until, Deadline::after(clock, options_.connect_timeout));
  bool may_be_done = false;
  base::Duration pause = kShortestPause;
  for (;;) {
    HOLDFAST_TRY_LET(auto client, borrow(until));
    std::expected<Bson, Trouble> reply =
        attempt(*client, std::min(until, Deadline::after(clock, options_.reply_timeout)));
    if (reply) {
      has_answered_.store(true, std::memory_order_relaxed);
      give_back(std::move(client));
      return Answer{.reply = *std::move(reply), .is_repeated = may_be_done};
    }
    const Trouble& trouble = reply.error();
    if (trouble.connection_is_bad) {
      discard(std::move(client));
    } else {
      give_back(std::move(client));
    }
    may_be_done = may_be_done || trouble.kind == Trouble::Kind::unknown;
    if (trouble.kind == Trouble::Kind::refused) {
      return std::unexpected(error_of(trouble));
    }
    const base::Duration next = jittered(pause);
    const bool is_final = may_be_done && repeat == Repeat::no;
    const bool is_met = has_answered_.load(std::memory_order_relaxed) || !trouble.is_unreachable;
    if (is_final || (is_met ? until : until_met).remaining(clock.now()) <= next) {
      return fail(may_be_done ? ErrorCode::unknown_outcome : ErrorCode::unavailable,
                  (trouble.is_unreachable ? "MongoDB cannot be reached: "
                                          : "MongoDB did not answer as it should: ") +
                      trouble.message);
    }
    std::this_thread::sleep_for(next);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Result<std::unique_ptr<Client>> Link::borrow(Deadline deadline) {
  base::MutexLock guard(mutex_);
  constexpr base::Duration kMost = std::chrono::hours(24);  // what the standard library can add
  while (idle_.empty() && lent_ >= options_.max_connections) {
    const base::Duration wait = deadline.remaining(base::steady_clock().now());
    if (wait <= base::Duration::zero()) {
      return fail(ErrorCode::unavailable,
                  "all connections to MongoDB are in use: raise max_connections");
    }
    returned_.wait_for(mutex_, std::min(wait, kMost));
  }
  ++lent_;
  if (!idle_.empty()) {
    auto client = std::move(idle_.back());
    idle_.pop_back();
    return client;
  }
  guard.unlock();
  auto client = Client::make(address_);
  if (!client) {
    guard.lock();
    --lent_;
    returned_.notify_one();
  }
  return client;
}

void Link::give_back(std::unique_ptr<Client> client) {
  const base::MutexLock guard(mutex_);
  idle_.push_back(std::move(client));
  --lent_;
  returned_.notify_one();
}

std::int64_t cursor_of(const Bson& reply) {
  const auto cursor = reply.find("cursor");
  const auto id = cursor ? cursor->find("id") : std::nullopt;
  return id ? id->integer().value_or(0) : 0;
}

void for_each_document(const Bson& reply, const std::function<void(const BsonValue&)>& callback) {
  const auto cursor = reply.find("cursor");
  for (const char* const batch : {"firstBatch", "nextBatch"}) {
    const auto documents = cursor ? cursor->find(batch) : std::nullopt;
    auto elements = documents ? documents->elements() : std::nullopt;
    while (const auto document = elements ? elements->next() : std::nullopt) {
      callback(*document);
    }
  }
}

void Link::discard(std::unique_ptr<Client> client) {
  std::vector<std::unique_ptr<Client>> useless;
  {
    const base::MutexLock guard(mutex_);
    useless.swap(idle_);
    --lent_;
    returned_.notify_all();
  }
  client.reset();
}

}  // namespace holdfast::engines::mongodb::internal
