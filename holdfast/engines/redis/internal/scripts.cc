#include <holdfast/engines/redis/internal/scripts.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include <holdfast/engines/redis/internal/failure.h>
#include <holdfast/engines/redis/internal/link/fitness.h>
#include <holdfast/engines/redis/internal/link/pending.h>
#include <holdfast/engines/redis/internal/lua.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::Result;

constexpr std::string_view kForgotten = "NOSCRIPT";
constexpr std::string_view kSeveralSlots = "CROSSSLOT";

// How many names one run serves: enough to be cheap, few enough not to keep others waiting.
constexpr std::size_t kMostNames = 128;

// With a time that does not pass by itself, Redis must not expire anything by its own.
constexpr std::chrono::milliseconds kGraceWithOtherTime = std::chrono::hours(1);

Result<Reply> checked(Result<Reply> reply) {
  if (reply && reply->is_error()) {
    return std::unexpected(failure_of(*reply));
  }
  return reply;
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
  return std::chrono::ceil<std::chrono::milliseconds>(ttl) +
         std::chrono::milliseconds(lua::kGraceMs);
}

std::int64_t microseconds(base::Duration duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

Command Scripts::command(const Script& script) { return Command("EVALSHA", script.sha); }

Result<Reply> Scripts::run(const Script& script, Command command, Deadline deadline) const {
  if (time_) {
    command.stay_alone();  // its time is another with each call
  }
  Result<Reply> reply = link_.call(command, deadline);
  if (reply && reply->is_error(kForgotten)) {
    reply = link_.call(command.with_text(script.text), deadline);
  }
  return checked(std::move(reply));
}

void Scripts::submit(const Script& script, Command command, Deadline deadline,
                     std::function<void(Result<Reply> reply)> callback) const {
  Command first = command;
  link_.submit(std::move(first), deadline,
               [this, &script, command = std::move(command), deadline,
                callback = std::move(callback)](Result<Reply> reply) {
                 if (!reply || (!reply->is_error(kForgotten) && !is_unfit(*reply))) {
                   callback(checked(std::move(reply)));
                   return;
                 }
                 link_.submit(
                     command.with_text(script.text), deadline,
                     [callback](Result<Reply> again) { callback(checked(std::move(again))); });
               });
}

std::vector<Result<Reply>> Scripts::answers(const Script& script, std::span<const Command> commands,
                                            Deadline deadline, OnSilence on_silence) const {
  std::vector<Result<Reply>> replies = link_.call_all(commands, deadline, on_silence);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (replies[i] && (replies[i]->is_error(kForgotten) || is_unfit(*replies[i]))) {
      replies[i] = link_.call(commands[i].with_text(script.text), deadline);
    }
  }
  return replies;
}

std::vector<Result<Reply>> Scripts::run_all(const Script& script, std::span<const Command> commands,
                                            Deadline deadline) const {
  std::vector<Result<Reply>> replies = answers(script, commands, deadline, OnSilence::wait);
  for (Result<Reply>& reply : replies) {
    reply = checked(std::move(reply));
  }
  return replies;
}

std::vector<Scripts::Part> Scripts::run_batches(const Script& script, std::vector<Batch> batches,
                                                const FillBatch& fill, Deadline deadline,
                                                OnSilence on_silence) const {
  std::vector<Command> commands;
  commands.reserve(batches.size());
  for (const Batch& batch : batches) {
    fill(batch, commands.emplace_back(command(script)));
  }
  std::vector<Result<Reply>> replies = answers(script, commands, deadline, on_silence);
  std::vector<Part> parts;
  parts.reserve(batches.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    parts.push_back({.batch = std::move(batches[i]), .reply = std::move(replies[i])});
  }
  return parts;
}

std::vector<Scripts::Part> Scripts::run_for_many(const Script& script,
                                                 std::span<const std::uint16_t> slots,
                                                 const FillBatch& fill, Deadline deadline,
                                                 OnSilence on_silence) const {
  Batch all(slots.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const bool by_slot = is_cluster_;
  std::vector<Part> parts =
      run_batches(script, by_slot ? split_by_slot(all, slots, kMostNames) : split(all, kMostNames),
                  fill, deadline, on_silence);
  if (!by_slot) {
    Batch refused;
    std::erase_if(parts, [&](const Part& part) {
      const bool is_refused = part.reply && part.reply->is_error(kSeveralSlots);
      if (is_refused) {
        refused.insert(refused.end(), part.batch.begin(), part.batch.end());
      }
      return is_refused;
    });
    if (!refused.empty()) {
      is_cluster_ = true;
      std::ranges::move(run_batches(script, split_by_slot(refused, slots, kMostNames), fill,
                                    deadline, on_silence),
                        std::back_inserter(parts));
    }
  }
  for (Part& part : parts) {
    part.reply = checked(std::move(part.reply));
  }
  return parts;
}

}  // namespace holdfast::engines::redis::internal
