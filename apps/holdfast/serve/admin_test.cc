#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/testing/faulty_store.h>

#include "apps/holdfast/serve/admin.h"

namespace holdfast::cli::serve {

namespace {

using holdfast::testing::Operation;

class AdminTest : public ::testing::Test {
 protected:
  // Makes a change with the token, and returns the status of its response.
  int change(const std::string& path, const std::string& name) {
    const Request request{.method = "POST",
                          .target = path,
                          .authorization = "Bearer token",
                          .content_type = "application/json",
                          .body = R"({"confirm": ")" + name + "\"}"};
    const Answer answer = admin_.answer(request, {.path = path, .query = {{"name", name}}});
    return std::get<Work>(answer)().status;
  }
  void hold(const std::string& name, const std::string& owner) {
    ASSERT_TRUE(store_->claim(name, {.id = base::LeaseId::generate(),
                                     .owner = owner,
                                     .reason = "",
                                     .ttl = std::chrono::hours(1),
                                     .permits = {.count = 1, .capacity = 2}}));
  }
  [[nodiscard]] std::vector<std::string> lines_with(const std::string& text) const {
    std::vector<std::string> found;
    std::ranges::copy_if(lines_, std::back_inserter(found),
                         [&](const std::string& line) { return line.contains(text); });
    return found;
  }
  // Returns how the past holds of a name have ended, once there are this many.
  [[nodiscard]] std::vector<HoldEnd> ends_of(const std::string& name, std::size_t count) {
    std::vector<HoldEnd> ends;
    EXPECT_TRUE(tests::eventually([&] {
      watcher_.refresh();
      const auto holds =
          watcher_.history([&](const Chronicle& chronicle) { return chronicle.of(name).holds; });
      ends.clear();
      std::ranges::transform(holds, std::back_inserter(ends), &PastHold::end);
      return ends.size() == count;
    }));
    return ends;
  }
  [[nodiscard]] bool sees(const std::string& name, std::size_t holders) {
    return tests::eventually([&] {
      const SharedSnapshot snapshot = watcher_.snapshot();
      const Entry* const entry = snapshot->find(name);
      return entry != nullptr && entry->state && entry->state->holders.size() == holders;
    });
  }

  const std::shared_ptr<holdfast::testing::FaultyStore> store_ =
      std::make_shared<holdfast::testing::FaultyStore>(
          std::make_shared<engines::memory::MemoryStore>());
  std::vector<std::string> lines_;
  Watcher watcher_{store_, std::chrono::milliseconds(20), [] {}};
  const Admin admin_{store_, watcher_, "token",
                     [this](AuditLog::Kind, std::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(AdminTest, AStealThatFailsHalfwayLogsBothHalves) {
  hold("job", "a");
  hold("job", "b");
  ASSERT_TRUE(sees("job", 2));
  store_->pass(Operation::release);
  store_->refuse(Operation::release);
  EXPECT_EQ(change("/api/v1/steal", "job"), 503);
  EXPECT_EQ(lines_with("stole job from").size(), 1U);
  EXPECT_EQ(lines_with("could not steal job from").size(), 1U);
  EXPECT_EQ(ends_of("job", 1), std::vector{HoldEnd::stolen});
  // The other one is released by its holder.
  const auto left = store_->look("job");
  ASSERT_TRUE(left && *left);
  ASSERT_TRUE(store_->release("job", (*left)->holders.front().id));
  EXPECT_EQ(ends_of("job", 2), (std::vector{HoldEnd::stolen, HoldEnd::released}));
}

TEST_F(AdminTest, AChangeWithAnUnknownOutcomeIsLoggedAsOne) {
  hold("job", "a");
  store_->lose_reply(Operation::release);
  EXPECT_EQ(change("/api/v1/steal", "job"), 503);
  EXPECT_EQ(lines_with("perhaps made the change: steal job from a").size(), 1U);
  store_->lose_reply(Operation::hit);
  EXPECT_EQ(change("/api/v1/reset", "nightly"), 503);
  EXPECT_EQ(lines_with("perhaps made the change: reset nightly").size(), 1U);
}

}  // namespace

}  // namespace holdfast::cli::serve
