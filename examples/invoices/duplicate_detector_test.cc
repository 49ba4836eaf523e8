#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/testing/faulty_store.h>

#include "duplicate_detector.h"
#include "testing_support.h"

namespace invoices {
namespace {

using namespace std::chrono_literals;
using holdfast::base::ErrorCode;
using holdfast::recipes::Protection;
using holdfast::recipes::WhenUnavailable;
using holdfast::testing::FaultyStore;

class Detector : public FolderTest {
 protected:
  [[nodiscard]] std::unique_ptr<DuplicateDetector> detector(DetectorOptions options = {}) {
    options.database = database();
    return std::make_unique<DuplicateDetector>(network, std::move(options));
  }
  static Invoice invoice(const std::string& number, const std::string& vendor = "ACME Inc.") {
    return make_invoice("acct", number, vendor, "12.50", "2024-02-28").value();
  }

  std::shared_ptr<FaultyStore> network =
      std::make_shared<FaultyStore>(std::make_shared<holdfast::engines::memory::MemoryStore>());
};

TEST_F(Detector, StoresAnInvoiceOnce) {
  const auto detects = detector();
  EXPECT_EQ(detects->add(invoice("R-17"), "hash 1")->finding, Finding::unique);
  const auto again = detects->add(invoice("R-17"), "hash 2");
  EXPECT_EQ(again->finding, Finding::exact);
  EXPECT_EQ(again->duplicate_of, invoice("R-17"));
  EXPECT_EQ(stored(), std::vector{invoice("R-17")});
}

TEST_F(Detector, FindsANearDuplicateWithAnotherNumber) {
  const auto detects = detector();
  ASSERT_EQ(detects->add(invoice("R-17"), "hash 1")->finding, Finding::unique);
  EXPECT_EQ(detects->add(invoice("R-18", "acme"), "hash 2")->finding, Finding::near);
  EXPECT_EQ(detects->add(invoice("R-18", "apex"), "hash 3")->finding, Finding::unique);
  EXPECT_EQ(stored().size(), 2U);
}

TEST_F(Detector, ACheckStoresNothing) {
  const auto detects = detector();
  EXPECT_EQ(detects->check_for_duplicate(invoice("R-17"))->finding, Finding::unique);
  EXPECT_TRUE(stored().empty());
  ASSERT_TRUE(detects->add(invoice("R-17"), "hash"));
  EXPECT_EQ(detects->check_for_duplicate(invoice("R-17"))->finding, Finding::exact);
}

TEST_F(Detector, ReportsConcurrentIfAnotherCheckTakesTooLong) {
  holdfast::locks::LockProvider other(network);
  const auto held = other.acquire("invoice/acct/R-17/acme");
  const auto detects = detector({.database = {}, .wait = 10ms});
  EXPECT_EQ(detects->add(invoice("R-17"), "hash")->finding, Finding::concurrent);
  EXPECT_EQ(detects->check_for_duplicate(invoice("R-17"))->finding, Finding::concurrent);
  EXPECT_EQ(detects->add(invoice("R-18"), "hash")->finding, Finding::unique);
}

TEST_F(Detector, DifferentPartsNeverGiveTheSameName) {
  holdfast::locks::LockProvider other(network);
  const auto held = other.acquire("invoice/acct/R/17/acme");
  const auto detects = detector({.database = {}, .wait = 10ms});
  EXPECT_EQ(detects->add(invoice("R/17"), "hash")->finding, Finding::unique);
}

TEST_F(Detector, AFileThatACallerHasMarkedIsBeingProcessedUntilItIsCleared) {
  const auto detects = detector();
  const auto elsewhere = detector();
  EXPECT_FALSE(*detects->is_processing("acct", "hash"));
  ASSERT_TRUE(elsewhere->mark_processing("anna", "acct", "hash"));
  EXPECT_EQ((*network->look("mark/processing/acct/hash"))->holders.at(0).owner, "anna");
  EXPECT_TRUE(*detects->is_processing("acct", "hash"));
  EXPECT_FALSE(*detects->is_processing("another", "hash"));
  EXPECT_EQ(detects->add(invoice("R-17"), "hash")->finding, Finding::processing);
  ASSERT_TRUE(elsewhere->clear_processing("acct", "hash"));
  EXPECT_FALSE(*detects->is_processing("acct", "hash"));
  EXPECT_EQ(detects->add(invoice("R-17"), "hash")->finding, Finding::unique);
}

TEST_F(Detector, DoesNotStartAFileThatIsBeingProcessed) {
  holdfast::recipes::Marker marker(network);
  const auto detects = detector();
  {
    const auto elsewhere = marker.try_mark("processing/acct/hash", 1h);
    ASSERT_TRUE(elsewhere && *elsewhere);
    EXPECT_EQ(detects->add(invoice("R-17"), "hash")->finding, Finding::processing);
  }
  EXPECT_EQ(detects->add(invoice("R-17"), "hash")->finding, Finding::unique);
  EXPECT_EQ(marker.is_marked("processing/acct/hash"), false);
}

TEST_F(Detector, StoresOneOfTheNearDuplicatesUploadedAtTheSameTime) {
  const auto detects = detector({.database = {}, .wait = 60s, .work = 5ms});
  std::atomic<int> unique = 0;
  std::atomic<int> near = 0;
  {
    std::vector<std::jthread> uploads;
    for (int i = 0; i < 8; ++i) {
      uploads.emplace_back([&, i] {
        const std::string number = "R-" + std::to_string(i);
        const auto verdict = detects->add(invoice(number), "hash of " + number);
        unique += verdict && verdict->finding == Finding::unique ? 1 : 0;
        near += verdict && verdict->finding == Finding::near ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(unique, 1);
  EXPECT_EQ(near, 7);
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(Detector, StoresAllDifferentInvoicesUploadedAtTheSameTime) {
  const auto detects = detector({.database = {}, .wait = 60s});
  std::atomic<int> unique = 0;
  {
    std::vector<std::jthread> uploads;
    for (int i = 0; i < 8; ++i) {
      uploads.emplace_back([&, i] {
        const std::string number = std::to_string(i);
        const auto verdict = detects->add(invoice(number, "vendor " + number), number);
        unique += verdict && verdict->finding == Finding::unique ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(unique, 8);
  EXPECT_EQ(stored().size(), 8U);
}

TEST_F(Detector, WithoutALockStoreItFailsOrReportsReducedProtection) {
  network->go_away();
  const auto fails = detector();
  const auto failed = fails->add(invoice("R-17"), "hash");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(stored().empty());

  const auto proceeds =
      detector({.database = {}, .when_unavailable = WhenUnavailable::proceed_without_lock});
  const auto verdict = proceeds->add(invoice("R-17"), "hash");
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->finding, Finding::unique);
  EXPECT_EQ(verdict->protection, Protection::none);
  EXPECT_EQ(proceeds->add(invoice("R-17"), "hash")->finding, Finding::exact);
}

TEST_F(Detector, ATableThatCannotBeUsedIsATypedError) {
  std::filesystem::create_directory(database());
  const auto failed = detector()->add(invoice("R-17"), "hash");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace invoices
