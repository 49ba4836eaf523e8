#include <holdfast/engines/redis/internal/scripts.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::Result;

// The number of names in one run: enough to be cheap, few enough not to delay other clients.
constexpr std::size_t kMostNames = 128;

// With a time that does not pass by itself, Redis must not expire anything by its own.
constexpr std::chrono::milliseconds kGraceWithOtherTime = std::chrono::hours(1);

}  // namespace

std::int64_t microseconds(base::Duration duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

std::vector<Batch> split_by_slot(std::span<const std::size_t> positions,
                                 std::span<const std::uint16_t> slots, std::size_t most) {
  Batch sorted(positions.begin(), positions.end());
  std::ranges::stable_sort(sorted, {}, [&](std::size_t position) { return slots[position]; });
  std::vector<Batch> batches;
  for (const std::size_t position : sorted) {
    const bool fits = !batches.empty() && batches.back().size() < most &&
                      slots[batches.back().front()] == slots[position];
    if (!fits) {
      batches.emplace_back();
    }
    batches.back().push_back(position);
  }
  return batches;
}

void Scripts::add_common(Command& command) const {
  const auto retention =
      std::chrono::ceil<std::chrono::milliseconds>(connection_.options().retention);
  if (time_) {
    command.add(words(retention.count(), kGraceWithOtherTime.count(), time_().count()));
  } else {
    command.add(retention.count());
  }
}

Command Scripts::command(const Script& script, std::string_view name) const {
  const Keys keys = keys_.keys_of(name);
  Command command(script);
  command.add(2).add(keys.plain).add(keys.companion);
  add_common(command);
  return command;
}

void Scripts::make_joinable(Command& command) const {
  if (!time_) {  // a time of our own is another with each call
    command.make_joinable();
  }
}

Command Scripts::command(const ForMany& request, const Batch& batch) const {
  Command command(request.script);
  command.add(batch.size() * 2);
  for (const std::size_t i : batch) {
    command.add(request.names[i].plain).add(request.names[i].companion);
  }
  add_common(command);
  request.add_arguments(batch, command);
  return command;
}

std::vector<Scripts::Part> Scripts::run_batches(const ForMany& request, std::vector<Batch> batches,
                                                Deadline deadline, OnSilence on_silence) const {
  std::vector<Command> commands;
  commands.reserve(batches.size());
  for (const Batch& batch : batches) {
    commands.push_back(command(request, batch));
  }
  std::vector<Result<Reply>> replies = connection_.call_all(commands, deadline, on_silence);
  std::vector<Part> parts;
  parts.reserve(batches.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    parts.push_back({.batch = std::move(batches[i]), .reply = std::move(replies[i])});
  }
  return parts;
}

std::vector<Scripts::Part> Scripts::run(const ForMany& request, Deadline deadline,
                                        OnSilence on_silence) const {
  Batch all(request.names.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto slots = [&] {
    std::vector<std::uint16_t> result(request.names.size());
    std::ranges::transform(request.names, result.begin(),
                           [](const Keys& keys) { return slot_of(keys.plain); });
    return result;
  };
  const std::vector<std::uint16_t> no_slots(request.names.size());
  const bool by_slot = is_cluster_;
  std::vector<Part> parts = run_batches(
      request, split_by_slot(all, by_slot ? slots() : no_slots, kMostNames), deadline, on_silence);
  if (by_slot || !connection_.check_process()) {
    return parts;
  }
  Batch refused;
  std::erase_if(parts, [&](const Part& part) {
    const bool is_refused = !part.reply && part.reply.error().code == base::ErrorCode::unsupported;
    if (is_refused) {
      refused.insert(refused.end(), part.batch.begin(), part.batch.end());
    }
    return is_refused;
  });
  if (!refused.empty()) {
    is_cluster_ = true;
    std::ranges::move(
        run_batches(request, split_by_slot(refused, slots(), kMostNames), deadline, on_silence),
        std::back_inserter(parts));
  }
  return parts;
}

}  // namespace holdfast::engines::redis::internal
