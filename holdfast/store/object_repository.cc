#include <holdfast/store/object_repository.h>

#include <set>
#include <string>

#include <holdfast/base/name.h>
#include <holdfast/base/try.h>

namespace holdfast::store {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Name;
using base::Result;

constexpr std::size_t kMaxPage = 1000;

Result<void> check_name(std::string_view what, std::string_view bytes) {
  if (const auto name = Name::make(bytes); !name) {
    return fail(name.error().code, std::string(what) + ": " + name.error().message);
  }
  return {};
}

Result<void> check_key(const ObjectKey& key) {
  if (auto type = check_name("the type of an object", key.type); !type) {
    return type;
  }
  return check_name("the id of an object", key.id);
}

Result<void> check_saves(std::span<const ObjectSave> saves) {
  if (saves.size() > ObjectRepository::kMaxBatch) {
    return fail(ErrorCode::invalid_argument, "more than 1,000 objects in one save");
  }
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ObjectSave& save : saves) {
    if (auto key = check_key(save.key); !key) {
      return key;
    }
    if (save.data.size() > ObjectRepository::kMaxData) {
      return fail(ErrorCode::invalid_argument, "the data of an object is longer than 8 MiB");
    }
    if (!seen.emplace(save.key.type, save.key.id).second) {
      return fail(ErrorCode::invalid_argument, "the same object twice in one save");
    }
  }
  return {};
}

}  // namespace

Result<LoadOutcome> ObjectRepository::load(const ObjectKey& key, FencingToken token,
                                           Deadline deadline) {
  HOLDFAST_TRY(check_key(key));
  return do_load(key, token, deadline);
}

Result<std::vector<SaveOutcome>> ObjectRepository::save(std::span<const ObjectSave> saves,
                                                        Batch batch, Deadline deadline) {
  HOLDFAST_TRY(check_saves(saves));
  if (batch == Batch::all_or_none && !capabilities().atomic_batch) {
    return fail(ErrorCode::unsupported,
                "this repository cannot save several objects in one step: see docs/objects.md");
  }
  if (saves.empty()) {
    return std::vector<SaveOutcome>{};
  }
  return do_save(saves, batch, deadline);
}

Result<EraseOutcome> ObjectRepository::erase(const ObjectKey& key, FencingToken token,
                                             Deadline deadline) {
  HOLDFAST_TRY(check_key(key));
  return do_erase(key, token, deadline);
}

Result<IdPage> ObjectRepository::list(std::string_view type, std::string_view prefix,
                                      std::size_t limit, std::string_view after,
                                      Deadline deadline) {
  HOLDFAST_TRY(check_name("the type of an object", type));
  if (limit == 0 || limit > kMaxPage) {
    return fail(ErrorCode::invalid_argument, "the limit of a page is not between 1 and 1,000");
  }
  if (prefix.size() > Name::kMaxSize || after.size() > Name::kMaxSize) {
    return fail(ErrorCode::invalid_argument,
                "the prefix or the place to go on is longer than a name");
  }
  return do_list(type, prefix, limit, after, deadline);
}

}  // namespace holdfast::store
