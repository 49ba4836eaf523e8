#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "apps/holdfast/serve/audit_log.h"

namespace holdfast::cli::serve {

namespace {

class AuditLogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(pipe_.data()), 0); }
  void TearDown() override {
    close(pipe_[0]);
    if (pipe_[1] >= 0) {
      close(pipe_[1]);
    }
  }

  void fill() const {
    const int flags = fcntl(pipe_[1], F_GETFL);
    fcntl(pipe_[1], F_SETFL, flags | O_NONBLOCK);
    const std::string piece(4096, '.');
    while (write(pipe_[1], piece.data(), piece.size()) > 0) {
    }
    fcntl(pipe_[1], F_SETFL, flags);
  }
  // Returns everything that was written, once nobody writes any more.
  std::string read_all() {
    close(std::exchange(pipe_[1], -1));
    std::string all;
    std::array<char, 4096> piece{};
    for (ssize_t size = 0; (size = read(pipe_[0], piece.data(), piece.size())) > 0;) {
      all.append(piece.data(), static_cast<std::size_t>(size));
    }
    return all;
  }
  [[nodiscard]] int end() const { return pipe_[1]; }

 private:
  std::array<int, 2> pipe_{-1, -1};
};

TEST_F(AuditLogTest, LinesAreWrittenInTheirOrder) {
  {
    AuditLog log(end());
    log.add(AuditLog::Kind::change, "first");
    log.add(AuditLog::Kind::change, "second\n");
  }
  const std::string all = read_all();
  EXPECT_LT(all.find("Z holdfast: audit: first\n"), all.find("Z holdfast: audit: second"));
  EXPECT_EQ(std::ranges::count(all, '\n'), 2);
}

TEST_F(AuditLogTest, AReaderThatStallsStopsNobody) {
  fill();
  AuditLog log(end());
  for (std::size_t i = 0; i < 2 * AuditLog::kMostLines; ++i) {
    log.add(AuditLog::Kind::change, std::string(200, 'x'));
  }
}

TEST_F(AuditLogTest, AFloodOfRefusalsIsCounted) {
  {
    AuditLog log(end());
    for (int i = 0; i < 500; ++i) {
      log.add(AuditLog::Kind::refusal, "refused");
    }
    log.add(AuditLog::Kind::change, "stole job");
  }
  const std::string all = read_all();
  EXPECT_LT(std::ranges::count(all, '\n'), 400);
  EXPECT_NE(all.find(" lines are left out here\n"), std::string::npos);
  EXPECT_NE(all.find("stole job"), std::string::npos);
}

}  // namespace

}  // namespace holdfast::cli::serve
