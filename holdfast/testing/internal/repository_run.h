#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/store/object_repository.h>
#include <holdfast/testing/internal/results.h>
#include <holdfast/testing/repository_under_test.h>

namespace holdfast::testing::internal {

// The place of the engine that a case needs.
enum class PlaceKind : std::uint8_t { usual, frail };

// One case's place, and a handle on it.
//
// Its functions return the outcome of an operation; an error ends the case with an exception, which
// GoogleTest reports as its failure.
class RepositoryRun {
 public:
  RepositoryRun(const RepositoryUnderTest& engine, PlaceKind kind);

  [[nodiscard]] const RepositoryUnderTest& engine() const { return engine_; }
  [[nodiscard]] const RepositoryPlace& place() const { return place_; }
  [[nodiscard]] store::ObjectRepository& repository() { return *repository_; }
  [[nodiscard]] std::shared_ptr<store::ObjectRepository> open() const { return place_.open(); }
  // Drops this run's handle and opens another.
  void open_again();

  [[nodiscard]] store::LoadOutcome load(const store::ObjectKey& key, std::uint64_t token);
  [[nodiscard]] store::SaveOutcome save(const store::ObjectKey& key, std::string_view data,
                                        std::uint64_t token);
  [[nodiscard]] std::vector<store::SaveOutcome> save(std::span<const store::ObjectSave> saves,
                                                     store::Batch batch);
  [[nodiscard]] store::EraseOutcome erase(const store::ObjectKey& key, std::uint64_t token);
  // Returns all ids, page by page.
  [[nodiscard]] std::vector<std::string> list(std::string_view type, std::string_view prefix = {},
                                              std::size_t limit = 100);

 private:
  const RepositoryUnderTest engine_;
  const RepositoryPlace place_;
  std::shared_ptr<store::ObjectRepository> repository_;
};

// Outcomes to compare with.
[[nodiscard]] store::LoadOutcome loaded(std::string_view data);
[[nodiscard]] store::LoadOutcome absent();
[[nodiscard]] store::SaveOutcome saved();
[[nodiscard]] store::SaveOutcome withheld();
[[nodiscard]] store::EraseOutcome erased();
[[nodiscard]] store::EraseOutcome nothing_erased();
// For any of the three operations.
[[nodiscard]] store::Refused refused(std::uint64_t newest);

[[nodiscard]] store::ObjectKey order(std::string_view id);

struct RepositoryCase {
  const char* name;
  void (*run)(RepositoryRun& run);
  PlaceKind place = PlaceKind::usual;
};

// Each has one theme, in the file of that name.
std::span<const RepositoryCase> object_cases();
std::span<const RepositoryCase> object_token_cases();
std::span<const RepositoryCase> batch_cases();
std::span<const RepositoryCase> object_name_cases();
std::span<const RepositoryCase> id_list_cases();
std::span<const RepositoryCase> object_crowd_cases();
std::span<const RepositoryCase> durability_cases();
std::span<const RepositoryCase> repository_fault_cases();

}  // namespace holdfast::testing::internal

// Printers of the outcomes for GoogleTest.
namespace holdfast::store {

// NOLINTBEGIN(readability-identifier-naming): the name that GoogleTest looks for.
inline void PrintTo(const Loaded& outcome, std::ostream* out) {
  *out << "loaded " << outcome.data.size()
       << " bytes: " << base::printable(outcome.data.substr(0, 64));
}
inline void PrintTo(const Absent&, std::ostream* out) { *out << "absent"; }
inline void PrintTo(const Saved&, std::ostream* out) { *out << "saved"; }
inline void PrintTo(const Withheld&, std::ostream* out) { *out << "withheld"; }
inline void PrintTo(const Erased& outcome, std::ostream* out) {
  *out << (outcome.existed ? "erased" : "nothing to erase");
}
inline void PrintTo(const Refused& outcome, std::ostream* out) {
  *out << "refused by " << to_string(outcome.newest);
}
// NOLINTEND(readability-identifier-naming)

}  // namespace holdfast::store
