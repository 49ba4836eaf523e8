#include <holdfast/objects/internal/writer.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/lock_order.h>
#include <holdfast/objects/internal/refusal.h>
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
// How often a request with an unknown outcome is repeated.
constexpr int kMostRepeats = 2;

// One object of a batch, which cannot be erased or written by others meanwhile.
struct Held {
  local::SharedGuard key;
  local::ExclusiveGuard writing;
  Activation* activation;
  std::string text;
};

// Returns whether one save of a batch may be the cause, so that the others would succeed without
// it.
bool may_concern_one(ErrorCode code) {
  return code != ErrorCode::unavailable && code != ErrorCode::unknown_outcome;
}

}  // namespace

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

Result<std::string> Writer::text_of(Activation& activation) {
  const auto data = data_of(activation);
  if (!data) {
    return std::unexpected(data.error());
  }
  auto text = run_user_code([&] { return data->dump(); });
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

Result<SaveOutcome> Writer::save(Activation& activation, Turn turn, const local::KeyWait& wait) {
  ObjectType& type = activation.type;
  Ranked turn_order;
  local::ExclusiveGuard my_turn;
  if (turn == Turn::needed && type.options.calls == Calls::serial) {
    turn_order = Ranked(&host_, Rank::turn);
    auto taken = own(type.turns, type, activation.id, wait);
    if (!taken) return std::unexpected(std::move(taken).error());
    my_turn = *std::move(taken);
  }
  const Ranked save_order(&host_, Rank::save);
  const auto writing = own(type.saves, type, activation.id, wait);
  if (!writing) return std::unexpected(writing.error());

  if (!activation.dirty.exchange(false, std::memory_order_acq_rel)) {
    return SaveOutcome::unchanged;
  }
  auto text = text_of(activation);
  my_turn.unlock();
  turn_order.reset();
  if (!text) {
    try_again(activation);
    return std::unexpected(std::move(text).error());
  }
  if (auto ours = check_ours(activation); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const ObjectSave save{type.key(activation.id), *std::move(text), activation.token()};
  auto outcomes = host_.repository->save(std::span(&save, 1), Batch::each, host_.store_deadline());
  if (!outcomes) {
    try_again(activation);
    return std::unexpected(
        in_context("saving " + type.describe(activation.id), std::move(outcomes).error()));
  }
  if (auto settled = settle(activation, outcomes->front()); !settled) {
    return std::unexpected(std::move(settled).error());
  }
  return SaveOutcome::saved;
}

Result<SaveOutcome> Writer::save(ObjectType& type, std::string_view id,
                                 const local::KeyWait& wait) {
  const Ranked key_order(&host_, Rank::key);
  const auto key = share_key(type, id, wait);
  if (!key) {
    return std::unexpected(key.error());
  }
  Activation* const activation = type.table.find(id);
  return activation != nullptr ? save(*activation, Turn::needed, wait) : SaveOutcome::gone;
}

Sweep Writer::sweep(ObjectType& type, std::span<const std::string> ids) {
  Sweep result;
  std::vector<Held> held;
  std::size_t bytes = 0;
  for (const std::string& id : ids) {
    if (bytes >= kEnoughBytes) {
      break;
    }
    ++result.taken;
    // None of these waits, so their order does not matter.
    auto key = type.keys.try_lock_shared(id);
    Activation* const activation = key ? type.table.find(id) : nullptr;
    if (key && activation == nullptr) {
      continue;  // erased meanwhile
    }
    auto turn = key && type.options.calls == Calls::serial
                    ? type.turns.try_lock(id)
                    : std::optional<local::ExclusiveGuard>(std::in_place);
    auto writing = key && turn ? type.saves.try_lock(id) : std::nullopt;
    if (!writing) {
      result.busy.push_back(id);
      continue;
    }
    // First, so that a change from here on lists it again.
    type.table.unlist(*activation);
    if (!activation->dirty.exchange(false, std::memory_order_acq_rel)) {
      continue;
    }
    auto text = text_of(*activation);
    if (!text) {
      try_again(*activation);
      result.error = std::move(text).error();
      continue;
    }
    bytes += text->size();
    held.push_back({*std::move(key), *std::move(writing), activation, *std::move(text)});
  }
  std::vector<ObjectSave> saves;
  std::vector<Activation*> activations;
  for (Held& object : held) {
    Activation& activation = *object.activation;
    if (auto ours = check_ours(activation); !ours) {
      result.error = std::move(ours).error();
      continue;
    }
    saves.push_back({type.key(activation.id), std::move(object.text), activation.token()});
    activations.push_back(&activation);
  }
  if (!saves.empty()) {
    write(saves, activations, result);
  }
  return result;
}

bool Writer::write(std::span<const ObjectSave> saves, std::span<Activation* const> activations,
                   Sweep& result) {
  auto outcomes = host_.repository->save(saves, Batch::each, host_.store_deadline());
  if (outcomes) {
    for (std::size_t i = 0; i < saves.size(); ++i) {
      if (auto settled = settle(*activations[i], (*outcomes)[i]); !settled) {
        result.error = std::move(settled).error();
      } else {
        ++result.saved;
      }
    }
    return true;
  }
  const bool go_on = may_concern_one(outcomes.error().code);
  if (go_on && saves.size() > 1) {
    bool reached = true;
    for (std::size_t i = 0; i < saves.size(); ++i) {
      if (reached) {
        reached = write(saves.subspan(i, 1), activations.subspan(i, 1), result);
      } else {
        try_again(*activations[i]);
      }
    }
    return reached;
  }
  for (Activation* const activation : activations) {
    try_again(*activation);
  }
  const std::string what = saves.size() == 1
                               ? activations.front()->type.describe(activations.front()->id)
                               : std::to_string(saves.size()) + " objects";
  result.error = in_context("saving " + what, std::move(outcomes).error());
  return go_on;
}

Result<void> Writer::save_together(std::span<Activation* const> activations) {
  std::vector<ObjectSave> saves;
  for (Activation* const activation : activations) {
    auto text = text_of(*activation);
    if (!text) {
      return std::unexpected(std::move(text).error());
    }
    saves.push_back({activation->type.key(activation->id), *std::move(text), activation->token()});
  }
  for (Activation* const activation : activations) {
    if (auto ours = check_ours(*activation); !ours) {
      return ours;
    }
  }
  // The same request may be repeated; this turns an unknown outcome into a known one.
  const base::Deadline deadline = host_.store_deadline();
  auto outcomes = host_.repository->save(saves, Batch::all_or_none, deadline);
  const bool was_unknown = !outcomes && outcomes.error().code == ErrorCode::unknown_outcome;
  for (int again = 0; was_unknown && !outcomes && again < kMostRepeats; ++again) {
    outcomes = host_.repository->save(saves, Batch::all_or_none, deadline);
  }
  if (!outcomes) {
    host_.failed_saves += activations.size();
    base::Error error = in_context("saving together", std::move(outcomes).error());
    if (was_unknown) error.code = ErrorCode::unknown_outcome;
    return std::unexpected(std::move(error));
  }
  Result<void> result;
  for (std::size_t i = 0; i < activations.size(); ++i) {
    if (std::holds_alternative<store::Withheld>((*outcomes)[i])) {
      ++host_.failed_saves;
      continue;
    }
    activations[i]->dirty.store(false, std::memory_order_release);
    if (auto settled = settle(*activations[i], (*outcomes)[i]); !settled) {
      result = std::move(settled);
    }
  }
  if (!result && was_unknown) {
    // Rejected now, but the first request may have been executed.
    result.error().code = ErrorCode::unknown_outcome;
  }
  return result;
}

Result<void> Writer::settle(Activation& activation, const store::SaveOutcome& outcome) {
  if (const auto* const refused = std::get_if<store::Refused>(&outcome)) {
    try_again(activation);
    mark_lost(activation);
    return std::unexpected(
        refusal(activation.type, activation.id, activation.token(), refused->newest));
  }
  ++host_.saved;
  return {};
}

Result<void> Writer::check_ours(Activation& activation) {
  if (activation.usable()) {
    return {};
  }
  try_again(activation);
  mark_lost(activation);
  return fail(ErrorCode::lost, "another process may have " +
                                   activation.type.describe(activation.id) +
                                   " by now; it is not saved");
}

void Writer::try_again(Activation& activation) {
  ++host_.failed_saves;
  mark_dirty(activation);
}

}  // namespace holdfast::objects::internal
