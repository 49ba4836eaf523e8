#include <sys/resource.h>

#include <tests/mongodb/mongo_test.h>

#include <holdfast/engines/mongodb/mongo_repository.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::FencingToken;
using store::Claim;
using store::Grant;
using store::ObjectKey;
using store::ObjectSave;
using store::Renewal;

// A server whose answers are not what was asked for.
class StrangeAnswers : public MongoTest {
 protected:
  StrangeAnswers() : MongoTest({.must_be_stand_in = true, .own = true}) {}

  // From now on, to all commands that a store or a repository sends.
  void answer_with(const std::string& data) {
    client_.run("admin", R"({"configureFailPoint": "failCommand", "mode": {"times": 100000},
        "data": {"failCommands": ["hello", "isMaster", "ismaster", "findAndModify", "update", "find",
        "aggregate", "delete"], )" +
                             data + "}}");
  }
};

template <class T>
ErrorCode code_of(const base::Result<T>& result) {
  return result ? ErrorCode::internal : result.error().code;
}

TEST_F(StrangeAnswers, AnAnswerThatOnlySaysOkIsCorruptAndNeverFree) {
  const Claim claim = wish();
  expect<Grant>(store_->claim("job", claim));
  client_.run("admin", R"({"configureFailPoint": "failCommand", "mode": {"times": 100000}, "data":
      {"failCommands": ["findAndModify", "update", "find", "aggregate"], "replaceReply": {}}})");
  EXPECT_EQ(code_of(store_->claim("job", wish())), ErrorCode::corrupt);
  EXPECT_EQ(code_of(store_->transfer("job", claim.id, wish())), ErrorCode::corrupt);
  EXPECT_EQ(code_of(store_->hit("calls", {.limit = 1, .period = 1min})), ErrorCode::corrupt);
  EXPECT_EQ(code_of(store_->hit("calls", {.limit = 1, .period = 1min, .count = 0})),
            ErrorCode::corrupt);
  EXPECT_EQ(code_of(store_->look("job")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(store_->list("")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(store_->release("job", claim.id)), ErrorCode::corrupt);
  const Renewal renewal{.name = "job", .id = claim.id, .ttl = 10min};
  EXPECT_EQ(code_of(store_->renew({&renewal, 1})), ErrorCode::corrupt);
}

TEST_F(StrangeAnswers, AnObjectIsNotAbsentBecauseTheAnswerOnlySaysOk) {
  const auto repository =
      base::value_or_throw(engines::mongodb::open_repository(options_for(server_)));
  const ObjectKey key{.type = "order", .id = "17"};
  client_.run("admin", R"({"configureFailPoint": "failCommand", "mode": {"times": 100000}, "data":
      {"failCommands": ["findAndModify", "update", "find"], "replaceReply": {}}})");
  EXPECT_EQ(code_of(repository->load(key, FencingToken(0))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(repository->load(key, FencingToken(7))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(repository->erase(key, FencingToken(7))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(repository->list("order", "")), ErrorCode::corrupt);
  const ObjectSave save{.key = key, .data = "data", .token = FencingToken(7)};
  EXPECT_EQ(code_of(repository->save({&save, 1}, store::Batch::each)), ErrorCode::corrupt);
}

// In kilobytes, the most that this process has ever used.
long peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// It says that its messages may be of any size, and sends one of 200 MB.
TEST_F(StrangeAnswers, AnAnswerThatIsTooLongIsRefusedBeforeItIsRead) {
  answer_with(R"("extendReply": {"maxMessageSizeBytes": 2000000000}, "blobInReply": 200000000)");
  const long before = peak_memory();
  auto options = options_for(server_);
  options.reply_timeout = kPatience;  // slowness is not what is tested
  const auto store = store_on(std::move(options));
  EXPECT_EQ(code_of(store->claim("job", wish())), ErrorCode::corrupt);
  EXPECT_EQ(code_of(store->look("job")), ErrorCode::corrupt);
  // A sanitizer keeps notes about every byte.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(peak_memory() - before, 150'000);
#else
  static_cast<void>(before);
#endif
}

}  // namespace
}  // namespace holdfast::tests
