#include <holdfast/objects/internal/writer.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <holdfast/base/try.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using store::Batch;
using store::ObjectSave;

// A batch is closed when it is this long.
constexpr std::size_t kEnoughBytes = 4UL * 1024 * 1024;
// The number of times that a request with an unknown outcome is repeated.
constexpr int kMostRepeats = 2;

// Returns whether one save of a batch may be the cause, so that the others would succeed without
// it.
bool may_concern_one(ErrorCode code) {
  return code != ErrorCode::unavailable && code != ErrorCode::unknown_outcome &&
         code != ErrorCode::timed_out;
}

Result<std::string> text_of(Activation& activation) {
  HOLDFAST_TRY_LET(const auto data, Writer::data_of(activation));
  auto text = run_user_code([&] { return data.dump(); });
  if (!text) {
    return std::unexpected(in_context("the data of " + activation.type.describe(activation.id),
                                      std::move(text).error()));
  }
  // Rejected here, so that the rest of the batch can be saved.
  if (text->size() > store::ObjectRepository::kMaxData) {
    return fail(ErrorCode::limit_exceeded,
                "the data of " + activation.type.describe(activation.id) + " is longer than 8 MiB");
  }
  return text;
}

std::string describe(std::span<Activation* const> activations) {
  return activations.size() == 1 ? activations.front()->type.describe(activations.front()->id)
                                 : std::to_string(activations.size()) + " objects";
}

}  // namespace

struct Writer::Batched {
  Request request{};
  std::size_t bytes = 0;
  std::vector<local::SharedGuard> keys{};
  std::vector<local::ExclusiveGuard> writing{};
  std::vector<std::string> busy{};
};

void Writer::Request::add(Activation& activation, ObjectSave save) {
  activations.push_back(&activation);
  saves.push_back(std::move(save));
}

void Writer::Written::add(Written other) {
  saved += other.saved;
  if (other.error) add(*std::move(other.error));
}

void Writer::Written::add(base::Error other) {
  if (!error || (other.code != ErrorCode::timed_out && other.code != ErrorCode::cancelled)) {
    error = std::move(other);
  }
}

Result<nlohmann::json> Writer::data_of(Activation& activation) {
  Frame frame;
  frame.enter(&activation.host, activation.type, activation.id, &activation, Doing::data);
  auto data = run_user_code([&] { return activation.object->to_data(); });
  if (!data) {
    return std::unexpected(in_context("to_data of " + activation.type.describe(activation.id),
                                      std::move(data).error()));
  }
  return data;
}

Result<SaveStatus> Writer::save(ObjectType& type, std::string_view id, const Operation& operation) {
  if (const Frame* const own = Frame::of(type, id)) {
    if (own->doing() == Doing::call) {
      return save(*own->activation(), Turn::held, operation);
    }
    return fail(ErrorCode::invalid_argument,
                type.describe(id) + " cannot be saved while a hook of it or `together` is at work");
  }
  HOLDFAST_TRY_LET(const auto key, operation.share_key(type, id));
  Activation* const activation = type.table.find(id);
  return activation != nullptr ? save(*activation, Turn::needed, operation) : SaveStatus::gone;
}

Result<SaveStatus> Writer::save(Activation& activation, Turn turn, const Operation& operation) {
  ObjectType& type = activation.type;
  Exclusive my_turn;
  if (turn == Turn::needed && type.options.calls == Calls::serial) {
    HOLDFAST_TRY_LET(my_turn, operation.own(type.turns, Rank::turn, type, activation.id));
  }
  HOLDFAST_TRY_LET(const auto writing, operation.own(type.saves, Rank::save, type, activation.id));
  Request request;
  HOLDFAST_TRY_LET(const bool changed, take(activation, request));
  my_turn.unlock();
  if (!changed) {
    return SaveStatus::unchanged;
  }
  if (auto written = write(std::move(request), Batch::each, operation); written.error) {
    return std::unexpected(*std::move(written.error));
  }
  return SaveStatus::saved;
}

Result<void> Writer::save_together(std::span<Activation* const> activations,
                                   const Operation& operation) {
  Request request;
  for (Activation* const activation : activations) {
    mark_dirty(*activation);
    auto taken = take(*activation, request);
    if (!taken) {
      try_again(request);
      return std::unexpected(std::move(taken).error());
    }
  }
  if (auto written = write(std::move(request), Batch::all_or_none, operation); written.error) {
    return std::unexpected(*std::move(written.error));
  }
  return {};
}

Result<std::size_t> Writer::save_listed(const Operation& operation) {
  Written total;
  for (ObjectType* const type : host_.types.in_use()) {
    if (auto ended = save_listed(*type, operation, total); !ended) {
      total.add(std::move(ended).error());
      break;
    }
  }
  if (total.error) {
    return std::unexpected(*std::move(total.error));
  }
  return total.saved;
}

Result<void> Writer::save_listed(ObjectType& type, const Operation& operation, Written& written) {
  // Each of them once: an object that is listed meanwhile, or stays listed, neither delays the
  // others nor makes this endless. Between batches: the objects of a batch are not listed, and
  // are listed again if it fails.
  HOLDFAST_TRY_LET(local::ExclusiveGuard between_batches, lock_batches(operation));
  const std::vector<std::string> ids = type.table.listed_ids();
  between_batches.unlock();
  for (std::span<const std::string> left = ids; !left.empty();) {
    HOLDFAST_TRY_LET(const auto busy, save_first(type, left, operation, written));
    for (const std::string& id : busy) {
      auto one = save(type, id, operation);
      if (!one) {
        written.add(std::move(one).error());
      } else if (*one == SaveStatus::saved) {
        ++written.saved;
      }
    }
  }
  return {};
}

Result<local::ExclusiveGuard> Writer::lock_batches(const Operation& operation) {
  auto guard = batches_.lock("", operation.wait(base::Duration::max()));
  if (!guard) {
    return operation.gave_up(guard.error(), "another save of many objects",
                             "the store takes too long");
  }
  return *std::move(guard);
}

Result<std::vector<std::string>> Writer::save_first(ObjectType& type,
                                                    std::span<const std::string>& left,
                                                    const Operation& operation, Written& written) {
  HOLDFAST_TRY_LET(const auto guard, lock_batches(operation));
  Batched batched;
  std::size_t handled = 0;
  const std::size_t most = std::min(left.size(), host_.options.save_batch);
  while (handled < most && batched.bytes < kEnoughBytes) {
    if (auto taken = try_take(type, left[handled++], batched); !taken) {
      written.add(std::move(taken).error());
    }
  }
  left = left.subspan(handled);
  if (!batched.request.saves.empty()) {
    written.add(write(std::move(batched.request), Batch::each, operation));
  }
  return std::move(batched.busy);
}

// None of the locks is waited for, so their order does not matter.
Result<bool> Writer::try_take(ObjectType& type, const std::string& id, Batched& batched) {
  auto key = type.keys.try_lock_shared(id);
  Activation* const activation = key ? type.table.find(id) : nullptr;
  if (key && activation == nullptr) {
    return false;  // erased meanwhile
  }
  const bool is_serial = type.options.calls == Calls::serial;
  const auto turn = key && is_serial ? type.turns.try_lock(id) : std::nullopt;
  auto writing = key && (turn || !is_serial) ? type.saves.try_lock(id) : std::nullopt;
  if (!writing) {
    batched.busy.push_back(id);
    return false;
  }
  // First, so that a change from here on lists it again.
  type.table.unlist(*activation);
  HOLDFAST_TRY_LET(const bool changed, take(*activation, batched.request));
  if (changed) {
    batched.bytes += batched.request.saves.back().data.size();
    batched.keys.push_back(*std::move(key));
    batched.writing.push_back(*std::move(writing));
  }
  return changed;
}

Result<bool> Writer::take(Activation& activation, Request& request) {
  if (!activation.dirty.exchange(false, std::memory_order_acq_rel)) {
    return false;
  }
  auto text = text_of(activation);
  if (!activation.usable()) {
    mark_lost(activation);
    text = fail(ErrorCode::lost, "another process may have " +
                                     activation.type.describe(activation.id) +
                                     " by now; it is not saved");
  }
  if (!text) {
    try_again(activation);
    return std::unexpected(std::move(text).error());
  }
  request.add(activation,
              {activation.type.key(activation.id), *std::move(text), activation.token()});
  return true;
}

Writer::Written Writer::write(Request request, Batch batch, const Operation& operation) {
  Written written;
  // The same request may be repeated; this turns an unknown outcome into a known one.
  const base::Deadline deadline = operation.store_deadline();
  auto outcomes = host_.repository->save(request.saves, batch, deadline);
  const bool was_unknown = batch == Batch::all_or_none && !outcomes &&
                           outcomes.error().code == ErrorCode::unknown_outcome;
  for (int again = 0; was_unknown && !outcomes && again < kMostRepeats; ++again) {
    outcomes = host_.repository->save(request.saves, batch, deadline);
  }
  if (outcomes) {
    written.add(settle(request, *outcomes));
  } else if (batch == Batch::each && request.saves.size() > 1 &&
             may_concern_one(outcomes.error().code)) {
    written.add(write_each(std::move(request), operation));
  } else {
    try_again(request);
    written.error =
        operation.store_failed("saving " + describe(request.activations), outcomes.error()).error();
  }
  if (was_unknown && written.error) {
    // Rejected now, but the first request may have been executed.
    written.error->code = ErrorCode::unknown_outcome;
  }
  return written;
}

Writer::Written Writer::write_each(Request request, const Operation& operation) {
  Written written;
  bool is_reached = true;
  for (std::size_t i = 0; i < request.saves.size(); ++i) {
    Request one;
    one.add(*request.activations[i], std::move(request.saves[i]));
    if (!is_reached) {
      try_again(one);
      continue;
    }
    Written outcome = write(std::move(one), Batch::each, operation);
    is_reached = !outcome.error || may_concern_one(outcome.error->code);
    written.add(std::move(outcome));
  }
  return written;
}

Writer::Written Writer::settle(const Request& request,
                               std::span<const store::SaveOutcome> outcomes) {
  Written written;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    Activation& activation = *request.activations[i];
    if (std::holds_alternative<store::Saved>(outcomes[i])) {
      ++host_.saved;
      ++written.saved;
      continue;
    }
    try_again(activation);
    if (const auto* const refused = std::get_if<store::Refused>(&outcomes[i])) {
      mark_lost(activation);
      written.error = activation.type.refusal(activation.id, activation.token(), refused->newest);
    }
  }
  return written;
}

void Writer::try_again(Activation& activation) {
  ++host_.failed_saves;
  mark_dirty(activation);
}

void Writer::try_again(const Request& request) {
  for (Activation* const activation : request.activations) try_again(*activation);
}

}  // namespace holdfast::objects::internal
