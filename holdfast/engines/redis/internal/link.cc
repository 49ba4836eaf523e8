#include <holdfast/engines/redis/internal/link.h>

#include <utility>

#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/link/fitness.h>
#include <holdfast/engines/redis/internal/link/link_core.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::Result;

base::Error inherited() {
  return {ErrorCode::unsupported,
          "this connection belongs to the process that this one was forked from; open another"};
}

}  // namespace

Link::Link(RedisOptions options) : core_(std::make_unique<LinkCore>(std::move(options))) {}

Link::~Link() {
  if (core_->is_inherited()) {
    // A thread that the child does not have may have left it in any state.
    (void)core_.release();
  }
}

Result<std::unique_ptr<Link>> Link::open(RedisOptions options) {
  auto link = std::make_unique<Link>(std::move(options));
  const RedisOptions& used = link->options();
  const auto deadline = base::Deadline::at(base::add_saturating(
      base::add_saturating(base::steady_clock().now(), used.connect_timeout), used.reply_timeout));
  // Whatever the server says to that, it is there.
  HOLDFAST_TRY(link->call(Command("PING"), deadline));
  return link;
}

Result<void> Link::check_process() const {
  if (core_->is_inherited()) {
    return std::unexpected(inherited());
  }
  return {};
}

Result<Reply> Link::call(const Command& command, base::Deadline deadline) {
  HOLDFAST_TRY(check_process());
  bool may_try_again = true;
  for (bool may_join = command.is_joinable();; may_join = false) {
    Reply reply;
    Call call{
        .commands = {&command, 1}, .replies = &reply, .deadline = deadline, .may_join = may_join};
    core_->run(call);
    if (call.error) {
      return std::unexpected(*std::move(call.error));
    }
    const bool was_left_out = call.joined && reply.is_nil();
    const bool tries_again = is_unfit(reply) && std::exchange(may_try_again, false);
    if (!was_left_out && !tries_again) {
      return reply;
    }
  }
}

std::vector<Result<Reply>> Link::call_all(std::span<const Command> commands,
                                          base::Deadline deadline, OnSilence on_silence) {
  std::vector<Result<Reply>> results;
  results.reserve(commands.size());
  std::vector<Reply> replies(commands.size());
  Call call{.commands = commands,
            .replies = replies.data(),
            .deadline = deadline,
            .on_silence = on_silence};
  if (core_->is_inherited()) {
    call.error = inherited();
  } else if (!commands.empty()) {
    core_->run(call);
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!call.error || i < call.received) {
      results.emplace_back(std::move(replies[i]));
    } else {
      results.emplace_back(std::unexpected(*call.error));
    }
  }
  return results;
}

void Link::close() {
  if (!core_->is_inherited()) {
    core_->close();
  }
}

void Link::submit(Command command, base::Deadline deadline, Submission::Callback callback) {
  if (auto ours = check_process(); !ours) {
    callback(std::unexpected(std::move(ours).error()));
    return;
  }
  core_->submit(std::make_unique<Submission>(std::move(command), deadline, std::move(callback)));
}

void Link::on_unfit(std::function<void()> callback) { core_->on_unfit(std::move(callback)); }

const RedisOptions& Link::options() const noexcept { return core_->options(); }

LinkCounters Link::counters() const { return core_->counters(); }

}  // namespace holdfast::engines::redis::internal
