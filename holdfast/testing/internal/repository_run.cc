#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

using base::FencingToken;
using base::value_or_throw;

namespace {

RepositoryPlace place_for(const RepositoryUnderTest& engine, PlaceKind kind) {
  return kind == PlaceKind::frail && engine.make_frail_place ? engine.make_frail_place()
                                                             : engine.make_place();
}

}  // namespace

RepositoryRun::RepositoryRun(const RepositoryUnderTest& engine, PlaceKind kind)
    : engine_(engine), place_(place_for(engine, kind)), repository_(place_.open()) {}

void RepositoryRun::open_again() {
  repository_.reset();
  repository_ = place_.open();
}

store::LoadOutcome RepositoryRun::load(const store::ObjectKey& key, std::uint64_t token) {
  return value_or_throw(repository_->load(key, FencingToken(token)));
}

store::SaveOutcome RepositoryRun::save(const store::ObjectKey& key, std::string_view data,
                                       std::uint64_t token) {
  const store::ObjectSave one{.key = key, .data = std::string(data), .token = FencingToken(token)};
  return value_or_throw(repository_->save({&one, 1}, store::Batch::each)).at(0);
}

std::vector<store::SaveOutcome> RepositoryRun::save(std::span<const store::ObjectSave> saves,
                                                    store::Batch batch) {
  return value_or_throw(repository_->save(saves, batch));
}

store::EraseOutcome RepositoryRun::erase(const store::ObjectKey& key, std::uint64_t token) {
  return value_or_throw(repository_->erase(key, FencingToken(token)));
}

std::vector<std::string> RepositoryRun::list(std::string_view type, std::string_view prefix,
                                             std::size_t limit) {
  std::vector<std::string> ids;
  std::string after;
  do {
    store::IdPage page = value_or_throw(repository_->list(type, prefix, limit, after));
    ids.insert(ids.end(), page.ids.begin(), page.ids.end());
    after = std::move(page.next);
  } while (!after.empty());
  return ids;
}

store::LoadOutcome loaded(std::string_view data) { return store::Loaded{std::string(data)}; }
store::LoadOutcome absent() { return store::Absent{}; }
store::SaveOutcome saved() { return store::Saved{}; }
store::SaveOutcome withheld() { return store::Withheld{}; }
store::EraseOutcome erased() { return store::Erased{.existed = true}; }
store::EraseOutcome nothing_erased() { return store::Erased{.existed = false}; }
store::Refused refused(std::uint64_t newest) { return {FencingToken(newest)}; }

store::ObjectKey order(std::string_view id) { return {.type = "order", .id = std::string(id)}; }

}  // namespace holdfast::testing::internal
