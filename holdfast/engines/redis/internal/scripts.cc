#include <holdfast/engines/redis/internal/scripts.h>

#include <string_view>

#include <holdfast/engines/redis/internal/failure.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::Result;

constexpr std::string_view kForgotten = "NOSCRIPT";

// Redis expires keys to the millisecond, and leases end to the microsecond: later is enough. As in
// record.lua.
constexpr std::chrono::milliseconds kGrace{2};
// With a time that does not pass by itself, Redis must not expire anything by its own.
constexpr std::chrono::milliseconds kGraceWithOtherTime = std::chrono::hours(1);

Result<Reply> checked(Result<Reply> reply) {
  if (reply && reply->is_error()) {
    return std::unexpected(failure_of(*reply));
  }
  return reply;
}

Command known(const Script& script, const Scripts::Fill& fill) {
  Command command("EVALSHA", script.sha);
  fill(command);
  return command;
}

Command told(const Script& script, const Scripts::Fill& fill) {
  Command command("EVAL", script.text);
  fill(command);
  command.stay_alone();  // once is enough to tell it
  return command;
}

}  // namespace

void Scripts::add_common(Command& command) const {
  const auto retention = std::chrono::ceil<std::chrono::milliseconds>(link_.options().retention);
  if (time_) {
    command.add(words(retention.count(), kGraceWithOtherTime.count(), time_().count()));
  } else {
    command.add(retention.count());
  }
}

std::chrono::milliseconds Scripts::expiry_of_mutex(base::Duration ttl) {
  return std::chrono::ceil<std::chrono::milliseconds>(ttl) + kGrace;
}

Result<Reply> Scripts::run(const Script& script, const Fill& fill, Deadline deadline) const {
  Command command = known(script, fill);
  if (time_) {
    command.stay_alone();  // its time is another with each call
  }
  Result<Reply> reply = link_.call(command, deadline);
  if (reply && reply->is_error(kForgotten)) {
    reply = link_.call(told(script, fill), deadline);
  }
  return checked(std::move(reply));
}

void Scripts::submit(const Script& script, Fill fill, Deadline deadline,
                     std::function<void(Result<Reply> reply)> callback) const {
  Command first = known(script, fill);
  link_.submit(std::move(first), deadline,
               [this, &script, fill = std::move(fill), deadline,
                callback = std::move(callback)](Result<Reply> reply) {
                 if (!reply || !reply->is_error(kForgotten)) {
                   callback(checked(std::move(reply)));
                   return;
                 }
                 link_.submit(told(script, fill), deadline, [callback](Result<Reply> again) {
                   callback(checked(std::move(again)));
                 });
               });
}

Result<std::vector<Reply>> Scripts::run_all(
    const Script& script, std::size_t count,
    const std::function<void(std::size_t which, Command& command)>& fill, Deadline deadline) const {
  std::vector<Command> commands;
  commands.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    fill(i, commands.emplace_back("EVALSHA", script.sha));
  }
  std::vector<Reply> replies;
  replies.reserve(count);
  for (Result<Reply>& reply : link_.call_all(commands, deadline)) {
    if (reply && reply->is_error(kForgotten)) {
      reply = run(script, [&](Command& command) { fill(replies.size(), command); }, deadline);
    }
    Result<Reply> good = checked(std::move(reply));
    if (!good) {
      return std::unexpected(std::move(good).error());
    }
    replies.push_back(*std::move(good));
  }
  return replies;
}

}  // namespace holdfast::engines::redis::internal
