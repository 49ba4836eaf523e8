#include <holdfast/engines/redis/redis_diagnosis.h>

#include <charconv>
#include <chrono>

#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/judgement.h>

namespace holdfast::engines::redis {

namespace {

using base::Result;
using internal::Command;
using internal::Connection;
using internal::Reply;
using std::chrono::microseconds;

Result<Reply> ask(Connection& connection, const Command& command) {
  const auto deadline = base::Deadline::at(base::add_saturating(
      base::add_saturating(base::steady_clock().now(), connection.options().connect_timeout),
      connection.options().reply_timeout));
  return connection.call(command, deadline);
}

microseconds wall_clock() {
  return std::chrono::duration_cast<microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

std::int64_t number(const std::string& text) {
  std::int64_t result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

Result<Finding> ask_clock(Connection& connection) {
  const microseconds before = wall_clock();
  const auto time = ask(connection, Command("TIME"));
  const microseconds after = wall_clock();
  if (!time) {
    return std::unexpected(time.error());
  }
  if (time->elements().size() != 2) {
    return base::fail(base::ErrorCode::internal, "TIME gave an unexpected answer");
  }
  const microseconds theirs = std::chrono::seconds(number(time->elements()[0].text())) +
                              microseconds(number(time->elements()[1].text()));
  return store::judge_clock(theirs - (before + after) / 2);
}

}  // namespace

Result<std::vector<Finding>> diagnose(const RedisOptions& options) {
  HOLDFAST_TRY(internal::check_options(options));
  Connection connection(options);
  HOLDFAST_TRY_LET(const auto info, ask(connection, Command("INFO")));
  std::vector<Finding> findings = internal::judge(internal::parse_info(info.text()));
  HOLDFAST_TRY_LET(auto clock, ask_clock(connection));
  findings.push_back(std::move(clock));
  return findings;
}

}  // namespace holdfast::engines::redis
