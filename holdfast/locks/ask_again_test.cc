#include <holdfast/locks/ask_again.h>

#include <deque>
#include <optional>

#include <gtest/gtest.h>

namespace holdfast::locks {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::Result;

// Answers as scripted (nothing: success), and counts.
struct Script {
  std::deque<std::optional<ErrorCode>> answers;
  int calls = 0;

  Result<int> operator()() {
    ++calls;
    const auto answer = answers.front();
    answers.pop_front();
    if (answer) {
      return base::fail(*answer, "as scripted");
    }
    return calls;
  }
};

TEST(AskAgain, AnAnswerIsTakenAtOnce) {
  Script script{.answers = {std::nullopt}};
  EXPECT_EQ(ask_again(Deadline::never(), script), 1);
}

TEST(AskAgain, ALostReplyIsMetByAskingAgain) {
  Script script{.answers = {ErrorCode::unknown_outcome, std::nullopt}};
  EXPECT_EQ(ask_again(Deadline::never(), script), 2);
}

TEST(AskAgain, GivesUpAfterThree) {
  Script script{.answers = {3, ErrorCode::unknown_outcome}};
  EXPECT_EQ(ask_again(Deadline::never(), script).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(script.calls, 3);
}

TEST(AskAgain, OtherErrorsAreAnswers) {
  Script script{.answers = {ErrorCode::unavailable}};
  EXPECT_EQ(ask_again(Deadline::never(), script).error().code, ErrorCode::unavailable);
  EXPECT_EQ(script.calls, 1);
}

TEST(AskAgain, AnUnavailableStoreDoesNotMakeTheUnknownKnown) {
  Script script{
      .answers = {ErrorCode::unknown_outcome, ErrorCode::unavailable, ErrorCode::unavailable}};
  EXPECT_EQ(ask_again(Deadline::never(), script).error().code, ErrorCode::unknown_outcome);
}

TEST(AskAgain, DoesNotAskAgainAfterTheDeadline) {
  Script script{.answers = {ErrorCode::unknown_outcome}};
  const auto past = Deadline::at(base::steady_clock().now());
  EXPECT_EQ(ask_again(past, script).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(script.calls, 1);
}

}  // namespace
}  // namespace holdfast::locks
