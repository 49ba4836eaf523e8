#include <holdfast/engines/redis/redis_repository.h>

#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/store/token_text.h>

namespace holdfast::engines::redis {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Result;
using internal::Command;
using internal::Reply;
using internal::unexpected_answer;
using store::Batch;
using store::ObjectKey;
using store::ObjectSave;
using store::SaveOutcome;
using store::token_text;

namespace lua = internal::lua;

// The size of one script's saves, if it may have several: enough to be cheap, few enough not to
// delay other clients.
constexpr std::size_t kPartCount = 128;
constexpr std::size_t kPartBytes = 4UL * 1024 * 1024;
// The most bytes that are sent without a pause.
constexpr std::size_t kGoBytes = 64UL * 1024 * 1024;
// A server closes a connection that sends more than 1 GiB without a pause.
constexpr std::size_t kTogetherBytes = 256UL * 1024 * 1024;

using Saves = std::span<const ObjectSave>;

std::size_t size_of(const ObjectSave& save) {
  return save.key.type.size() + save.key.id.size() + save.data.size();
}

std::size_t size_of(Saves saves) {
  std::size_t bytes = 0;
  for (const ObjectSave& save : saves) {
    bytes += size_of(save);
  }
  return bytes;
}

// Returns as many as are within both bounds, and at least one.
Saves first_of(Saves saves, std::size_t most, std::size_t most_bytes) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < saves.size() && count < most) {
    bytes += size_of(saves[count]);
    if (count > 0 && bytes > most_bytes) {
      break;
    }
    ++count;
  }
  return saves.first(count);
}

std::optional<store::Refused> refused(const std::vector<Reply>& answer) {
  if (answer.size() != 2 || answer[0].text() != "refused") {
    return std::nullopt;
  }
  const auto newest = store::parse_token_text(answer[1].text());
  return newest ? std::optional(store::Refused{*newest}) : std::nullopt;
}

Result<SaveOutcome> save_outcome(const Reply& answer) {
  if (answer.text().empty()) {
    return store::Saved{};
  }
  if (answer.text() == "withheld") {
    return store::Withheld{};
  }
  const auto newest = store::parse_token_text(answer.text());
  return newest ? Result<SaveOutcome>(store::Refused{*newest}) : unexpected_answer();
}

// The range of ids for ZRANGEBYLEX.
std::string range_begin(std::string_view prefix, std::string_view after) {
  if (!after.empty() && after >= prefix) {
    return "(" + std::string(after);
  }
  return "[" + std::string(prefix);
}

std::string range_end(std::string prefix) {
  while (prefix.ends_with('\xff')) {
    prefix.pop_back();
  }
  if (prefix.empty()) {
    return "+";
  }
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return "(" + prefix;
}

// The parts that the operations need, in the order of need.
class ObjectRequests {
 public:
  explicit ObjectRequests(RedisOptions options)
      : connection(std::move(options)), keys(connection.options().prefix) {}

  // Returns the time for which a token without data is kept.
  [[nodiscard]] std::int64_t retention() const {
    return std::chrono::ceil<std::chrono::milliseconds>(connection.options().retention).count();
  }

  [[nodiscard]] Command command_for(Saves saves, Batch batch) const;
  // Saves each part with a script of its own, all in one go; appends one outcome for each object.
  Result<void> save(std::span<const Saves> parts, Batch batch, Deadline deadline,
                    std::vector<SaveOutcome>& outcomes);

  internal::Connection connection;
  const internal::KeySpace keys;
};

Command ObjectRequests::command_for(Saves saves, Batch batch) const {
  Command command(lua::kSave);
  command.add(saves.size() * 2);
  for (const auto& [key, data, token] : saves) {
    command.add(keys.object_of(key.type, key.id)).add(keys.index_of(key.type));
  }
  command.add(batch == Batch::each ? "each" : "all_or_none");
  for (const auto& [key, data, token] : saves) {
    command.add(token_text(token)).add(key.id).add(data);
  }
  return command;
}

Result<void> ObjectRequests::save(std::span<const Saves> parts, Batch batch, Deadline deadline,
                                  std::vector<SaveOutcome>& outcomes) {
  std::vector<Command> commands;
  for (const Saves part : parts) {
    commands.push_back(command_for(part, batch));
  }
  const auto replies = connection.call_all(commands, deadline);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!replies[i]) {
      return std::unexpected(replies[i].error());
    }
    const std::vector<Reply>& answers = replies[i]->elements();
    if (answers.size() != parts[i].size()) {
      return unexpected_answer();
    }
    for (const Reply& answer : answers) {
      HOLDFAST_TRY_LET(auto outcome, save_outcome(answer));
      outcomes.push_back(outcome);
    }
  }
  return {};
}

class RedisRepository final : public store::ObjectRepository {
 public:
  explicit RedisRepository(RedisOptions options)
      : requests_(std::make_unique<ObjectRequests>(std::move(options))) {}

  ~RedisRepository() override {
    if (!requests_->connection.check_process()) {
      // See Connection for what a forked child must not destroy.
      static_cast<void>(requests_.release());
    }
  }

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override {
    return {.engine = "redis", .durable = true, .atomic_batch = true};
  }

 private:
  Result<store::LoadOutcome> do_load(const ObjectKey& key, FencingToken token,
                                     Deadline deadline) override;
  Result<std::vector<SaveOutcome>> do_save(Saves saves, Batch batch, Deadline deadline) override;
  Result<store::EraseOutcome> do_erase(const ObjectKey& key, FencingToken token,
                                       Deadline deadline) override;
  Result<store::IdPage> do_list(std::string_view type, std::string_view prefix, std::size_t limit,
                                std::string_view after, Deadline deadline) override;

  std::unique_ptr<ObjectRequests> requests_;
};

Result<store::LoadOutcome> RedisRepository::do_load(const ObjectKey& key, FencingToken token,
                                                    Deadline deadline) {
  Command command(lua::kLoad);
  command.add(1)
      .add(requests_->keys.object_of(key.type, key.id))
      .add(token_text(token))
      .add(requests_->retention());
  HOLDFAST_TRY_LET(auto reply, requests_->connection.call(command, deadline));
  std::vector<Reply> answer = reply.take_elements();
  if (answer.size() == 2 && answer[0].text() == "loaded") {
    return store::Loaded{answer[1].take_text()};
  }
  if (answer.size() == 1 && answer[0].text() == "absent") {
    return store::Absent{};
  }
  if (const auto refusal = refused(answer)) {
    return *refusal;
  }
  return unexpected_answer();
}

Result<std::vector<SaveOutcome>> RedisRepository::do_save(Saves saves, Batch batch,
                                                          Deadline deadline) {
  std::vector<SaveOutcome> outcomes;
  outcomes.reserve(saves.size());
  if (batch == Batch::all_or_none) {
    if (size_of(saves) > kTogetherBytes) {
      return fail(ErrorCode::limit_exceeded,
                  "more than 256 MiB in one batch all_or_none: save less at once");
    }
    HOLDFAST_TRY(requests_->save({&saves, 1}, batch, deadline, outcomes));
    return outcomes;
  }
  while (!saves.empty()) {
    Saves go = first_of(saves, saves.size(), kGoBytes);
    saves = saves.subspan(go.size());
    std::vector<Saves> parts;
    while (!go.empty()) {
      parts.push_back(first_of(go, kPartCount, kPartBytes));
      go = go.subspan(parts.back().size());
    }
    HOLDFAST_TRY(requests_->save(parts, batch, deadline, outcomes));
  }
  return outcomes;
}

Result<store::EraseOutcome> RedisRepository::do_erase(const ObjectKey& key, FencingToken token,
                                                      Deadline deadline) {
  Command command(lua::kErase);
  command.add(2)
      .add(requests_->keys.object_of(key.type, key.id))
      .add(requests_->keys.index_of(key.type))
      .add(token_text(token))
      .add(key.id)
      .add(requests_->retention());
  HOLDFAST_TRY_LET(const auto reply, requests_->connection.call(command, deadline));
  const std::vector<Reply>& answer = reply.elements();
  if (answer.size() == 2 && answer[0].text() == "erased") {
    return store::Erased{.existed = answer[1].integer() == 1};
  }
  if (const auto refusal = refused(answer)) {
    return *refusal;
  }
  return unexpected_answer();
}

Result<store::IdPage> RedisRepository::do_list(std::string_view type, std::string_view prefix,
                                               std::size_t limit, std::string_view after,
                                               Deadline deadline) {
  HOLDFAST_TRY_LET(Reply reply, requests_->connection.call(
                                    Command("ZRANGEBYLEX", requests_->keys.index_of(type),
                                            range_begin(prefix, after),
                                            range_end(std::string(prefix)), "LIMIT", 0, limit + 1),
                                    deadline));
  store::IdPage page;
  for (Reply& id : reply.take_elements()) {
    if (page.ids.size() == limit) {  // one more: there is a next page
      page.next = page.ids.back();
      break;
    }
    page.ids.push_back(id.take_text());
  }
  return page;
}

}  // namespace

Result<std::unique_ptr<store::ObjectRepository>> open_repository(RedisOptions options) {
  HOLDFAST_TRY(internal::check_options(options));
  if (options.ack > 0) {
    return fail(ErrorCode::invalid_argument,
                "'ack' is for locks: a save is as safe as the server's settings make it");
  }
  return std::make_unique<RedisRepository>(std::move(options));
}

}  // namespace holdfast::engines::redis
