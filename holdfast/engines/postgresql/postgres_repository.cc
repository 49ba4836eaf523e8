#include <holdfast/engines/postgresql/postgres_repository.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/try.h>
#include <holdfast/engines/postgresql/internal/bytes_after.h>
#include <holdfast/engines/postgresql/internal/check_options.h>
#include <holdfast/engines/postgresql/internal/parameters.h>
#include <holdfast/engines/postgresql/internal/pool.h>

namespace holdfast::engines::postgresql {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Result;
using internal::Parameters;
using internal::Pool;
using internal::Rows;
using store::ObjectKey;
using store::ObjectSave;
using store::SaveOutcome;

// The most objects that one statement saves of a batch that need not be saved in one step.
constexpr std::size_t kPartBytes = 16UL * 1024 * 1024;
// The most bytes of one statement: the server takes less than 1 GiB.
constexpr std::size_t kMostBytes = 256UL * 1024 * 1024;

std::unexpected<base::Error> unexpected_answer() {
  return fail(ErrorCode::corrupt,
              "the server's answer is none that Holdfast's functions give: check the schema");
}

std::string_view kind(const Rows& rows, int row) { return rows.bytes(row, 0).value_or(""); }

Result<store::Refused> refused(const Rows& rows, int row) {
  const std::string_view text = rows.bytes(row, 1).value_or("");
  std::uint64_t token = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), token);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return unexpected_answer();
  }
  return store::Refused{FencingToken(token)};
}

Result<SaveOutcome> save_outcome(const Rows& rows, int row) {
  if (kind(rows, row) == "saved") {
    return store::Saved{};
  }
  if (kind(rows, row) == "withheld") {
    return store::Withheld{};
  }
  return refused(rows, row);
}

Parameters key_parameters(const Pool& pool, const ObjectKey& key, FencingToken token) {
  Parameters parameters;
  parameters.bytes(pool.options().prefix + key.type)
      .bytes(key.id)
      .bytes(to_string(token))
      .time(pool.options().retention);
  return parameters;
}

// Saves all of these in one statement, and appends one outcome for each.
Result<void> save_part(Pool& pool, std::span<const ObjectSave> saves, store::Batch batch,
                       Deadline deadline, std::vector<SaveOutcome>& outcomes) {
  std::vector<std::string> types;
  std::vector<std::string_view> ids;
  std::vector<std::string> tokens;
  std::vector<std::string_view> contents;
  for (const ObjectSave& save : saves) {
    types.push_back(pool.options().prefix + save.key.type);
    ids.push_back(save.key.id);
    tokens.push_back(to_string(save.token));
    contents.push_back(save.data);
  }
  const std::vector<std::string_view> prefixed(types.begin(), types.end());
  Parameters parameters;
  parameters.all_bytes(prefixed)
      .all_bytes(ids)
      .all_texts(tokens)
      .all_bytes(contents)
      .flag(batch == store::Batch::all_or_none)
      .time(pool.options().retention);
  HOLDFAST_TRY_LET(const Rows rows, pool.run(pool.schema().statements().save, parameters,
                                             Pool::Changes::yes, deadline));
  if (rows.count() != static_cast<int>(saves.size())) {
    return unexpected_answer();
  }
  for (int row = 0; row < rows.count(); ++row) {
    HOLDFAST_TRY_LET(const SaveOutcome outcome, save_outcome(rows, row));
    outcomes.push_back(outcome);
  }
  return {};
}

std::size_t bytes_of(const ObjectSave& save) {
  return save.data.size() + save.key.type.size() + save.key.id.size();
}

// Returns how many of these fit into one statement: at least one.
std::size_t fitting(std::span<const ObjectSave> saves) {
  std::size_t count = 1;
  for (std::size_t bytes = bytes_of(saves.front()); count < saves.size(); ++count) {
    bytes += bytes_of(saves[count]);
    if (bytes > kPartBytes) {
      break;
    }
  }
  return count;
}

class PostgresRepository final : public store::ObjectRepository {
 public:
  explicit PostgresRepository(std::unique_ptr<Pool> pool) : pool_(std::move(pool)) {}

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override {
    return {.engine = "postgresql", .durable = true, .atomic_batch = true};
  }

 private:
  Result<store::LoadOutcome> do_load(const ObjectKey& key, FencingToken token,
                                     Deadline deadline) override {
    HOLDFAST_TRY_LET(const Rows rows,
                     pool_->run(pool_->schema().statements().load,
                                key_parameters(*pool_, key, token), Pool::Changes::yes, deadline));
    if (kind(rows, 0) == "absent") {
      return store::Absent{};
    }
    if (kind(rows, 0) == "refused") {
      return refused(rows, 0);
    }
    const auto data = rows.bytes(0, 2);
    if (!data) {
      return unexpected_answer();
    }
    return store::Loaded{std::string(*data)};
  }

  Result<std::vector<SaveOutcome>> do_save(std::span<const ObjectSave> saves, store::Batch batch,
                                           Deadline deadline) override {
    // All that the parts do ends by then.
    const Deadline end = deadline.is_never()
                             ? Deadline::after(base::steady_clock(), pool_->options().reply_timeout)
                             : deadline;
    std::vector<SaveOutcome> outcomes;
    outcomes.reserve(saves.size());
    if (batch == store::Batch::all_or_none) {
      std::size_t bytes = 0;
      for (const ObjectSave& save : saves) {
        bytes += bytes_of(save);
      }
      if (bytes > kMostBytes) {
        return fail(ErrorCode::limit_exceeded,
                    "more than 256 MiB in one step: save fewer objects together");
      }
      HOLDFAST_TRY(save_part(*pool_, saves, batch, end, outcomes));
      return outcomes;
    }
    for (auto left = saves; !left.empty();) {
      const std::size_t count = fitting(left);
      HOLDFAST_TRY(save_part(*pool_, left.first(count), batch, end, outcomes));
      left = left.subspan(count);
    }
    return outcomes;
  }

  Result<store::EraseOutcome> do_erase(const ObjectKey& key, FencingToken token,
                                       Deadline deadline) override {
    HOLDFAST_TRY_LET(const Rows rows,
                     pool_->run(pool_->schema().statements().erase,
                                key_parameters(*pool_, key, token), Pool::Changes::yes, deadline));
    if (kind(rows, 0) == "refused") {
      return refused(rows, 0);
    }
    return store::Erased{.existed = kind(rows, 0) == "erased"};
  }

  Result<store::IdPage> do_list(std::string_view type, std::string_view prefix, std::size_t limit,
                                std::string_view after, Deadline deadline) override {
    Parameters parameters;
    parameters.bytes(pool_->options().prefix + std::string(type)).bytes(prefix);
    if (const auto end = internal::bytes_after(std::string(prefix))) {
      parameters.bytes(*end);
    } else {
      parameters.nothing();
    }
    parameters.bytes(after).number(static_cast<std::int64_t>(limit) + 1);
    HOLDFAST_TRY_LET(const Rows rows, pool_->run(pool_->schema().statements().list_objects,
                                                 parameters, Pool::Changes::no, deadline));
    store::IdPage page;
    for (int row = 0; row < rows.count(); ++row) {
      if (page.ids.size() == limit) {  // one more: there is a next page
        page.next = page.ids.back();
        break;
      }
      page.ids.emplace_back(rows.bytes(row, 0).value_or(""));
    }
    return page;
  }

  const std::unique_ptr<Pool> pool_;
};

}  // namespace

Result<std::unique_ptr<store::ObjectRepository>> open_repository(PostgresOptions options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(auto pool, Pool::open(std::move(options)));
  return std::make_unique<PostgresRepository>(std::move(pool));
}

}  // namespace holdfast::engines::postgresql
