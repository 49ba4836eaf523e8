#include <holdfast/engines/mongodb/mongo_repository.h>

#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/mongodb/internal/check_options.h>
#include <holdfast/engines/mongodb/internal/index_maker.h>
#include <holdfast/engines/mongodb/internal/link.h>
#include <holdfast/engines/mongodb/internal/object_ids.h>
#include <holdfast/engines/mongodb/internal/object_requests.h>
#include <holdfast/engines/mongodb/internal/server_codes.h>
#include <holdfast/store/token_text.h>

namespace holdfast::engines::mongodb {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Result;
using internal::Bson;
using internal::BsonValue;
using internal::Link;
using internal::ObjectIds;
using internal::ObjectRequests;
using store::ObjectKey;
using store::ObjectSave;
using store::Refused;
using store::SaveOutcome;

constexpr FencingToken kNoToken{0};
// The size of one command of saves: a command has at most 16 MiB, and an object 8.
constexpr std::size_t kPartCount = 128;
constexpr std::size_t kPartBytes = 12UL * 1024 * 1024;

Result<FencingToken> token_of(const BsonValue& document) {
  const auto text = document.find("token");
  const auto token = text && text->text() ? store::parse_token_text(*text->text()) : std::nullopt;
  if (!token) {
    return fail(ErrorCode::conflict,
                "a document in the object's place is not Holdfast's; it is left as it is: choose "
                "another collection or prefix");
  }
  return *token;
}

// Returns the positions, in a batch of this size, of the saves that found a greater token, or whose
// new object another caller saved first.
Result<std::set<std::size_t>> not_done(const Bson& reply, std::size_t count) {
  const auto done = reply.find("n");
  if (!done || !done->integer()) {
    return fail(ErrorCode::corrupt, "the server does not say how many objects it has saved");
  }
  std::set<std::size_t> places;
  const auto errors = reply.find("writeErrors");
  auto each = errors ? errors->elements() : std::nullopt;
  while (const auto error = each ? each->next() : std::nullopt) {
    const auto index = error->find("index");
    const auto code = error->find("code");
    if (!index || !index->integer() || !code || code->integer() != internal::kDuplicateKey) {
      return fail(ErrorCode::internal, "the server could not do all of a batch");
    }
    places.insert(static_cast<std::size_t>(*index->integer()));
  }
  if (!places.empty() && *places.rbegin() >= count) {
    return fail(ErrorCode::corrupt, "the server names an object that was not in the batch");
  }
  return places;
}

// The parts that the operations need, in the order of need.
class ObjectDocuments {
 public:
  explicit ObjectDocuments(std::unique_ptr<Link> the_link)
      : link(std::move(the_link)),
        ids(link->options().prefix),
        requests(link->options()),
        index_maker(*link, requests.create_index()) {}

  // All that an operation does ends by then.
  [[nodiscard]] Deadline end_of(Deadline deadline) const {
    return deadline.is_never()
               ? Deadline::after(base::steady_clock(), link->options().reply_timeout)
               : deadline;
  }

  // The answer to a findAndModify.
  Result<Bson> modify(const Bson& command, Deadline deadline);
  // Loads without a token.
  Result<store::LoadOutcome> look(std::string_view id, Deadline deadline);
  // Their tokens, by the _ids of those that there are.
  Result<std::map<std::string, FencingToken, std::less<>>> tokens(
      std::span<const std::string> wanted, Deadline deadline);

  // Saves the first of the places in `left` that fit into one command. What it has an outcome for
  // goes out of `left`.
  Result<void> save_some(std::span<const ObjectSave> saves, std::vector<std::size_t>& left,
                         std::vector<SaveOutcome>& outcomes, Deadline deadline);
  Result<store::EraseOutcome> erase_unfenced(std::string_view id, Deadline deadline);

  const std::unique_ptr<Link> link;
  const ObjectIds ids;
  const ObjectRequests requests;
  internal::IndexMaker index_maker;
};

Result<Bson> ObjectDocuments::modify(const Bson& command, Deadline deadline) {
  HOLDFAST_TRY_LET(auto answer, link->write(command, Link::Repeat::yes, deadline));
  index_maker.start();
  return std::move(answer.reply);
}

Result<store::LoadOutcome> ObjectDocuments::look(std::string_view id, Deadline deadline) {
  HOLDFAST_TRY_LET(const auto reply, link->query(requests.look(id), deadline));
  Result<store::LoadOutcome> outcome = store::Absent{};
  internal::for_each_document(reply, [&](const BsonValue& document) {
    const Result<FencingToken> token = token_of(document);
    const auto data = document.find("data");
    if (!token) {
      outcome = std::unexpected(token.error());
    } else if (*token > kNoToken) {
      outcome = Refused{*token};
    } else if (data && data->bytes()) {
      outcome = store::Loaded{std::string(*data->bytes())};
    }
  });
  return outcome;
}

Result<std::map<std::string, FencingToken, std::less<>>> ObjectDocuments::tokens(
    std::span<const std::string> wanted, Deadline deadline) {
  Bson list;
  for (const std::string& id : wanted) {
    list.push(id);
  }
  HOLDFAST_TRY_LET(const auto reply,
                   link->query(requests.look_at_tokens(list, wanted.size()), deadline));
  Result<std::map<std::string, FencingToken, std::less<>>> found;
  internal::for_each_document(reply, [&](const BsonValue& document) {
    const auto id = document.find("_id");
    const Result<FencingToken> token = token_of(document);
    if (!token) {
      found = std::unexpected(token.error());
    } else if (found && id && id->text()) {
      found->emplace(*id->text(), *token);
    }
  });
  return found;
}

Result<void> ObjectDocuments::save_some(std::span<const ObjectSave> saves,
                                        std::vector<std::size_t>& left,
                                        std::vector<SaveOutcome>& outcomes, Deadline deadline) {
  Bson updates;
  std::vector<std::size_t> part;
  std::size_t bytes = 0;
  for (const std::size_t place : left) {
    const ObjectSave& save = saves[place];
    bytes += save.data.size() + save.key.type.size() + save.key.id.size();
    if (part.size() == kPartCount || (!part.empty() && bytes > kPartBytes)) {
      break;
    }
    ObjectRequests::add_save(updates, ids.id_of(save.key), save.token, save.data);
    part.push_back(place);
  }
  HOLDFAST_TRY_LET(const auto answer,
                   link->write(requests.save(updates), Link::Repeat::yes, deadline));
  HOLDFAST_TRY_LET(const auto undone, not_done(answer.reply, part.size()));
  std::vector<std::string> wanted;
  for (const std::size_t index : undone) {
    wanted.push_back(ids.id_of(saves[part.at(index)].key));
  }
  HOLDFAST_TRY_LET(auto newest, wanted.empty()
                                    ? Result<std::map<std::string, FencingToken, std::less<>>>()
                                    : tokens(wanted, deadline));
  std::vector<std::size_t> again;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const ObjectSave& save = saves[part[i]];
    if (!undone.contains(i)) {
      outcomes[part[i]] = store::Saved{};
      continue;
    }
    const auto found = newest.find(ids.id_of(save.key));
    if (found != newest.end() && found->second > save.token) {
      outcomes[part[i]] = Refused{found->second};
    } else {
      again.push_back(part[i]);  // what was in the way is gone, or was made at the same time
    }
  }
  left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(part.size()));
  left.insert(left.end(), again.begin(), again.end());
  return {};
}

Result<store::EraseOutcome> ObjectDocuments::erase_unfenced(std::string_view id,
                                                            Deadline deadline) {
  for (;;) {
    HOLDFAST_TRY_LET(const auto answer,
                     link->write(requests.erase_unfenced(id), Link::Repeat::yes, deadline));
    const auto count = answer.reply.find("n");
    if (count && count->integer() == 1) {
      return store::Erased{.existed = true};
    }
    HOLDFAST_TRY_LET(const auto seen, look(id, deadline));
    if (const auto* const refusal = std::get_if<Refused>(&seen)) {
      return *refusal;
    }
    if (std::holds_alternative<store::Absent>(seen)) {
      return store::Erased{.existed = false};
    }
  }
}

class MongoRepository final : public store::ObjectRepository {
 public:
  explicit MongoRepository(std::unique_ptr<Link> link)
      : documents_(std::make_unique<ObjectDocuments>(std::move(link))) {}

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override {
    return {.engine = "mongodb", .durable = true, .atomic_batch = false};
  }

 private:
  Result<store::LoadOutcome> do_load(const ObjectKey& key, FencingToken token,
                                     Deadline deadline) override;
  Result<std::vector<SaveOutcome>> do_save(std::span<const ObjectSave> saves, store::Batch batch,
                                           Deadline deadline) override;
  Result<store::EraseOutcome> do_erase(const ObjectKey& key, FencingToken token,
                                       Deadline deadline) override;
  Result<store::IdPage> do_list(std::string_view type, std::string_view prefix, std::size_t limit,
                                std::string_view after, Deadline deadline) override;

  const std::unique_ptr<ObjectDocuments> documents_;
};

Result<store::LoadOutcome> MongoRepository::do_load(const ObjectKey& key, FencingToken token,
                                                    Deadline deadline) {
  const std::string id = documents_->ids.id_of(key);
  if (token == kNoToken) {
    return documents_->look(id, deadline);
  }
  HOLDFAST_TRY_LET(const auto reply,
                   documents_->modify(documents_->requests.load(id, token), deadline));
  const auto document = reply.find("value");
  if (!document) {
    return fail(ErrorCode::corrupt, "the server's answer to findAndModify has no value");
  }
  HOLDFAST_TRY_LET(const auto newest, token_of(*document));
  if (newest > token) {
    return Refused{newest};
  }
  const auto data = document->find("data");
  if (data && data->bytes()) {
    return store::Loaded{std::string(*data->bytes())};
  }
  return store::Absent{};
}

Result<std::vector<SaveOutcome>> MongoRepository::do_save(std::span<const ObjectSave> saves,
                                                          store::Batch, Deadline deadline) {
  const Deadline end = documents_->end_of(deadline);
  std::vector<SaveOutcome> outcomes(saves.size());
  std::vector<std::size_t> left(saves.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (!left.empty()) {
    HOLDFAST_TRY(documents_->save_some(saves, left, outcomes, end));
  }
  return outcomes;
}

Result<store::EraseOutcome> MongoRepository::do_erase(const ObjectKey& key, FencingToken token,
                                                      Deadline deadline) {
  const std::string id = documents_->ids.id_of(key);
  if (token == kNoToken) {
    return documents_->erase_unfenced(id, documents_->end_of(deadline));
  }
  HOLDFAST_TRY_LET(const auto reply,
                   documents_->modify(documents_->requests.erase(id, token), deadline));
  const auto before = reply.find("value");
  if (!before) {
    return fail(ErrorCode::corrupt, "the server's answer to findAndModify has no value");
  }
  if (before->is_null()) {
    return store::Erased{.existed = false};
  }
  HOLDFAST_TRY_LET(const auto newest, token_of(*before));
  if (newest > token) {
    return Refused{newest};
  }
  return store::Erased{.existed = !before->find("unusedSince")};
}

Result<store::IdPage> MongoRepository::do_list(std::string_view type, std::string_view prefix,
                                               std::size_t limit, std::string_view after,
                                               Deadline deadline) {
  const std::string begin = documents_->ids.beginning(type, prefix);
  const bool goes_on = !after.empty() && after >= prefix;
  HOLDFAST_TRY_LET(const auto reply,
                   documents_->link->query(
                       documents_->requests.list(
                           goes_on ? ObjectRequests::From::after : ObjectRequests::From::including,
                           goes_on ? documents_->ids.beginning(type, after) : begin,
                           ObjectIds::end_of(begin), limit + 1),
                       deadline));
  store::IdPage page;
  internal::for_each_document(reply, [&](const BsonValue& document) {
    const auto id = document.find("_id");
    auto object = id && id->text() ? documents_->ids.object_of(type, *id->text()) : std::nullopt;
    if (!object) {
      return;
    }
    if (page.ids.size() == limit) {  // one more: there is a next page
      page.next = page.ids.back();
    } else {
      page.ids.push_back(*std::move(object));
    }
  });
  return page;
}

}  // namespace

Result<std::unique_ptr<store::ObjectRepository>> open_repository(MongoOptions options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(auto link, Link::open(std::move(options)));
  return std::make_unique<MongoRepository>(std::move(link));
}

}  // namespace holdfast::engines::mongodb
