#include <holdfast/store/object_repository.h>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::FencingToken;
using base::Result;

constexpr FencingToken kToken{7};

// Counts what passes the checks.
class Counting final : public ObjectRepository {
 public:
  explicit Counting(bool atomic_batch = true) : atomic_batch_(atomic_batch) {}

  [[nodiscard]] RepositoryCapabilities capabilities() const override {
    return {.engine = "counting", .durable = false, .atomic_batch = atomic_batch_};
  }

  int passed = 0;

 private:
  Result<LoadOutcome> do_load(const ObjectKey& /*key*/, FencingToken /*token*/,
                              Deadline /*deadline*/) override {
    ++passed;
    return Absent{};
  }
  Result<std::vector<SaveOutcome>> do_save(std::span<const ObjectSave> saves, Batch /*batch*/,
                                           Deadline /*deadline*/) override {
    ++passed;
    return std::vector<SaveOutcome>(saves.size(), Saved{});
  }
  Result<EraseOutcome> do_erase(const ObjectKey& /*key*/, FencingToken /*token*/,
                                Deadline /*deadline*/) override {
    ++passed;
    return Erased{};
  }
  Result<IdPage> do_list(std::string_view /*type*/, std::string_view /*prefix*/,
                         std::size_t /*limit*/, std::string_view /*after*/,
                         Deadline /*deadline*/) override {
    ++passed;
    return IdPage{};
  }

  const bool atomic_batch_;
};

ObjectSave save_of(std::string id, std::string data = "{}") {
  return {
      .key = {.type = "account", .id = std::move(id)}, .data = std::move(data), .token = kToken};
}

TEST(ObjectRepository, AKeyOutsideTheBoundsOfNamesIsRefusedByEveryOperation) {
  Counting repository;
  const ObjectKey wrong[] = {{.type = "", .id = "a"},
                             {.type = "account", .id = ""},
                             {.type = std::string(1025, 't'), .id = "a"},
                             {.type = "account", .id = std::string(1025, 'i')}};
  for (const ObjectKey& key : wrong) {
    EXPECT_EQ(repository.load(key, kToken).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(repository.erase(key, kToken).error().code, ErrorCode::invalid_argument);
    const ObjectSave saves[] = {{.key = key, .data = "{}", .token = kToken}};
    EXPECT_EQ(repository.save(saves, Batch::each).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(repository.list("", "").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(repository.passed, 0);
}

TEST(ObjectRepository, DataHasABound) {
  Counting repository;
  const ObjectSave longest[] = {save_of("a", std::string(ObjectRepository::kMaxData, ' '))};
  EXPECT_TRUE(repository.save(longest, Batch::each));
  const ObjectSave longer[] = {save_of("a", std::string(ObjectRepository::kMaxData + 1, ' '))};
  EXPECT_EQ(repository.save(longer, Batch::each).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(repository.passed, 1);
}

TEST(ObjectRepository, ABatchHasABoundAndNoObjectTwice) {
  Counting repository;
  std::vector<ObjectSave> saves;
  for (std::size_t i = 0; i < ObjectRepository::kMaxBatch; ++i) {
    saves.push_back(save_of(std::to_string(i)));
  }
  EXPECT_TRUE(repository.save(saves, Batch::each));
  saves.push_back(save_of("one more"));
  EXPECT_EQ(repository.save(saves, Batch::each).error().code, ErrorCode::invalid_argument);
  const ObjectSave twice[] = {save_of("a"), save_of("a")};
  EXPECT_EQ(repository.save(twice, Batch::each).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(repository.passed, 1);
}

TEST(ObjectRepository, AnEmptyBatchAsksNobody) {
  Counting repository;
  EXPECT_TRUE(repository.save({}, Batch::all_or_none)->empty());
  EXPECT_EQ(repository.passed, 0);
}

TEST(ObjectRepository, AllOrNoneIsRefusedWhereItIsNotPromised) {
  Counting repository(false);
  const ObjectSave saves[] = {save_of("a"), save_of("b")};
  EXPECT_EQ(repository.save(saves, Batch::all_or_none).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(repository.save(saves, Batch::each));
}

TEST(ObjectRepository, APageHasBounds) {
  Counting repository;
  EXPECT_EQ(repository.list("account", "", 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(repository.list("account", "", 1001).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(repository.list("account", std::string(1025, 'p')).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE(repository.list("account", "", 1000));
  EXPECT_EQ(repository.passed, 1);
}

}  // namespace
}  // namespace holdfast::store
