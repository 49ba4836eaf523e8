#include <holdfast/engines/redis/internal/acknowledger.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/lua.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::MutexLock;
using base::Result;

constexpr const char* kClosed = "the store was closed";
constexpr const char* kTooLate = "the deadline came before the replicas had the grant";

// The longest time for one WAIT, so that the end of the store is noticed.
constexpr std::chrono::milliseconds kSlice{250};
// The longest time for its answer once it is over.
constexpr base::Duration kAnswer = std::chrono::seconds(1);

base::TimePoint now() noexcept { return base::steady_clock().now(); }

// WAIT is silent for as long as it waits.
RedisOptions patient(RedisOptions options) {
  options.reply_timeout += kSlice;
  return options;
}

// A caller that blocks, and the thread that answers it; the last of them frees it.
struct Question {
  base::Mutex mutex;
  base::ConditionVariable answered;
  std::optional<Result<void>> answer HOLDFAST_GUARDED_BY(mutex);
};

}  // namespace

Acknowledger::Acknowledger(RedisOptions options, const KeySpace& keys, Scripts::Time time)
    : options_(std::move(options)),
      keys_(keys),
      connection_(patient(options_)),
      scripts_(connection_, keys, std::move(time)) {}

Result<void> Acknowledger::wait(Lease lease, Deadline deadline) {
  const auto question = std::make_shared<Question>();
  submit(std::move(lease), deadline, [question](Result<void> acknowledged) {
    const MutexLock lock(question->mutex);
    question->answer = std::move(acknowledged);
    question->answered.notify_one();
  });
  const MutexLock lock(question->mutex);
  while (!question->answer && !deadline.expired(now())) {
    if (deadline.is_never()) {
      question->answered.wait(question->mutex);
    } else {
      question->answered.wait_for(question->mutex, deadline.remaining(now()));
    }
  }
  return question->answer ? *std::move(question->answer) : fail(ErrorCode::unavailable, kTooLate);
}

void Acknowledger::submit(Lease lease, Deadline deadline, Callback callback) {
  std::string refused;
  {
    const MutexLock lock(mutex_);
    if (is_closing_) {
      refused = kClosed;
    } else if (!thread_.joinable()) {
      try {
        thread_ = std::thread([this] { run(); });
      } catch (const std::system_error& error) {
        refused = std::string("there is no thread: ") + error.what();
      }
    }
    if (refused.empty()) {
      const auto limit = Deadline::after(base::steady_clock(), options_.ack_timeout);
      queue_.push_back({.lease = std::move(lease),
                        .limit = std::min(deadline, limit),
                        .callback = std::move(callback)});
      changed_.notify_one();
      return;
    }
  }
  callback(fail(ErrorCode::unavailable, std::move(refused)));
}

void Acknowledger::run() noexcept {
  MutexLock lock(mutex_);
  while (!is_closing_) {
    if (queue_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    Requests requests = std::exchange(queue_, {});
    lock.unlock();
    Requests again = serve(std::move(requests));
    lock.lock();
    queue_.insert(queue_.end(), std::make_move_iterator(again.begin()),
                  std::make_move_iterator(again.end()));
  }
}

void Acknowledger::close() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    thread = std::move(thread_);
    changed_.notify_one();
  }
  if (thread.joinable()) {
    thread.join();
  }
  Requests left;
  {
    const MutexLock lock(mutex_);
    left = std::exchange(queue_, {});
  }
  for (const Request& request : left) {
    request.callback(fail(ErrorCode::unavailable, kClosed));
  }
}

Acknowledger::Requests Acknowledger::serve(Requests requests) {
  refuse_late(requests);
  if (requests.empty()) {
    return {};
  }
  const std::uint64_t connects = connection_.counters().connects;
  // One that has little time must not take it from the others.
  const auto renewed =
      renew(requests, std::ranges::max_element(requests, {}, &Request::limit)->limit);
  const auto replicas =
      count_replicas(std::ranges::min_element(requests, {}, &Request::limit)->limit);
  // WAIT counts what its own connection has written: that must be where the leases were renewed.
  const bool is_same = connection_.counters().connects <= std::max<std::uint64_t>(connects, 1);
  Requests again;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Request& request = requests[i];
    if (!renewed[i]) {
      request.callback(std::unexpected(renewed[i].error()));
    } else if (*renewed[i] != 1) {
      request.callback(fail(ErrorCode::unavailable,
                            "the lease was lost before the replicas had it; another server may be "
                            "the master"));
    } else if (is_same && replicas && *replicas >= std::int64_t{options_.ack}) {
      request.callback({});
    } else if (request.limit.expired(now())) {
      request.callback(std::unexpected(replicas ? too_few(*replicas) : replicas.error()));
    } else {
      again.push_back(std::move(request));
    }
  }
  return again;
}

void Acknowledger::refuse_late(Requests& requests) {
  const base::TimePoint time = now();
  for (const Request& request : requests) {
    if (request.limit.expired(time)) {
      request.callback(fail(ErrorCode::unavailable, kTooLate));
    }
  }
  std::erase_if(requests, [&](const Request& request) { return request.limit.expired(time); });
}

Result<std::int64_t> Acknowledger::count_replicas(Deadline limit) {
  while (true) {
    // WAIT without an end is 0.
    const auto slice =
        std::clamp(std::chrono::ceil<std::chrono::milliseconds>(limit.remaining(now())),
                   std::chrono::milliseconds(1), kSlice);
    HOLDFAST_TRY_LET(const Reply reply,
                     connection_.call(Command("WAIT", options_.ack, slice.count()),
                                      Deadline::after(base::steady_clock(), slice + kAnswer)));
    if (reply.integer() >= std::int64_t{options_.ack} || limit.expired(now()) || is_closing()) {
      return reply.integer();
    }
  }
}

bool Acknowledger::is_closing() {
  const MutexLock lock(mutex_);
  return is_closing_;
}

std::vector<Result<std::int64_t>> Acknowledger::renew(const Requests& requests,
                                                      Deadline deadline) const {
  std::vector<Keys> names;
  for (const Request& request : requests) {
    names.push_back(keys_.keys_of(request.lease.name.view()));
  }
  const auto add_arguments = [&](const Batch& batch, Command& command) {
    for (const std::size_t i : batch) {
      command.add(to_string(requests[i].lease.id))
          .add(microseconds(requests[i].lease.ttl.unchecked()));
    }
  };
  const auto parts = scripts_.run(
      {.script = lua::kRenew, .names = std::move(names), .add_arguments = add_arguments}, deadline);
  std::vector<Result<std::int64_t>> renewed(requests.size(), unexpected_answer());
  for (const Scripts::Part& part : parts) {
    for (std::size_t i = 0; i < part.batch.size(); ++i) {
      auto& outcome = renewed[part.batch[i]];
      if (!part.reply) {
        outcome = std::unexpected(part.reply.error());
      } else if (part.reply->elements().size() == part.batch.size()) {
        outcome = part.reply->elements()[i].integer();
      }
    }
  }
  return renewed;
}

base::Error Acknowledger::too_few(std::int64_t replicas) const {
  return {ErrorCode::unavailable,
          std::to_string(replicas) + " of the " + std::to_string(options_.ack) +
              " replicas that the option ack asks for have the grant after " +
              base::short_duration(options_.ack_timeout)};
}

}  // namespace holdfast::engines::redis::internal
