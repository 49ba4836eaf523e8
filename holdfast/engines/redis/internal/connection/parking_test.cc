#include <holdfast/engines/redis/internal/connection/parking.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;
using Word = Parking::Word;

base::Deadline in(base::Duration time) { return base::Deadline::after(base::steady_clock(), time); }

TEST(ParkingLot, AWordThatComesBeforeTheWaitEndsItAtOnce) {
  ParkingLot lot;
  Parking parking;
  lot.enter(parking);
  ParkingLot::Sleepers sleepers;
  ParkingLot::tell(parking, Word::lead, sleepers);
  EXPECT_TRUE(sleepers.empty());
  EXPECT_EQ(lot.wait(parking, base::Deadline::never()), Word::lead);
}

TEST(ParkingLot, AWaitWithoutAWordEndsAtItsDeadline) {
  ParkingLot lot;
  Parking parking;
  lot.enter(parking);
  EXPECT_EQ(lot.wait(parking, in(1ms)), Word::none);
}

// More than there are places: some share theirs, and wake for nothing.
TEST(ParkingLot, EverybodyHearsWhatItWasToldAndNobodyAnythingElse) {
  constexpr std::size_t kSleepers = 600;
  constexpr int kRounds = 4;
  ParkingLot lot;
  std::mutex mutex;  // as the connection's
  std::mt19937 random(7);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<Parking>> parkings;
    for (std::size_t i = 0; i < kSleepers; ++i) {
      const std::lock_guard guard(mutex);
      lot.enter(*parkings.emplace_back(std::make_unique<Parking>()));
    }
    std::vector<Word> heard(kSleepers);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kSleepers; ++i) {
      threads.emplace_back(
          [&, i] { heard[i] = lot.wait(*parkings[i], i % 10 == 9 ? in(1ms) : in(60s)); });
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < kSleepers; ++i) {
      if (i % 10 != 9) {  // nobody notifies those
        order.push_back(i);
      }
    }
    std::ranges::shuffle(order, random);
    for (std::size_t i = 0; i < order.size();) {
      ParkingLot::Sleepers sleepers;
      {
        const std::lock_guard guard(mutex);
        for (std::size_t end = std::min(i + 1 + random() % 40, order.size()); i < end; ++i) {
          ParkingLot::tell(*parkings[order[i]], order[i] % 2 == 0 ? Word::done : Word::lead,
                           sleepers);
        }
      }
      lot.wake(sleepers);
    }
    threads.clear();
    for (std::size_t i = 0; i < kSleepers; ++i) {
      const Word expected = i % 10 == 9 ? Word::none : i % 2 == 0 ? Word::done : Word::lead;
      ASSERT_EQ(heard[i], expected) << i;
    }
  }
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
