// Two hosts as in two processes: each has its own provider, over one lease store and one
// repository.
#include <array>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::ErrorCode;
using base::value_or_throw;
using testing::answer;
using testing::Door;
using testing::eventually;
using testing::message;
using testing::Script;
using testing::Scripted;
using testing::WatchedRepository;
using namespace std::chrono_literals;

constexpr auto kTtl = 30s;

struct Place {
  base::ManualClock clock;
  std::shared_ptr<store::LeaseStore> leases = std::make_shared<engines::memory::MemoryStore>(
      engines::memory::MemoryOptions{.clock = &clock, .sweep_every = base::Duration::zero()});
  std::shared_ptr<WatchedRepository> repository = std::make_shared<WatchedRepository>();

  // Does as if both processes had been stopped for longer than a lease lasts.
  void sleep_past_the_ttl() { clock.advance(2 * kTtl); }
};

struct Process {
  explicit Process(Place& place, std::string owner, TypeOptions type = {},
                   std::optional<base::Duration> idle_after = {})
      : provider(place.leases, {.owner = std::move(owner), .clock = &place.clock}),
        host(place.repository, {.ownership = {.provider = &provider, .ttl = kTtl, .wait = 0ms},
                                .save_every = std::nullopt,
                                .idle_after = idle_after,
                                .clock = &place.clock}) {
    host.register_type<Scripted>("scripted", type,
                                 [script = script] { return std::make_unique<Scripted>(script); });
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  locks::LockProvider provider;
  ObjectHost host;
};

class ObjectHostOwnership : public ::testing::Test {
 protected:
  Place place_;
  Process a_{place_, "anna"};
  Process b_{place_, "bert"};
};

TEST_F(ObjectHostOwnership, AnObjectIsActiveInOneProcessAtATime) {
  EXPECT_EQ(a_.host.call<&Scripted::add>("x", 1), 1);
  const auto called = b_.host.call<&Scripted::add>("x", 1);
  EXPECT_EQ(answer(called), "busy");
  EXPECT_NE(message(called).find("scripted 'x' is active at 'anna'"), std::string::npos)
      << message(called);
  EXPECT_EQ(answer(b_.host.create<Scripted>("x")), "busy");
  EXPECT_EQ(answer(b_.host.erase<Scripted>("x")), "busy");
  EXPECT_EQ(b_.host.save<Scripted>("x"), SaveStatus::gone);
  EXPECT_EQ(b_.host.call<&Scripted::add>("y", 1), 1);
  EXPECT_EQ(a_.host.call<&Scripted::value>("x"), 1);
}

TEST_F(ObjectHostOwnership, TheLeaseIsNamedAfterTypeAndId) {
  value_or_throw(a_.host.create<Scripted>("x"));
  EXPECT_TRUE(value_or_throw(a_.provider.is_locked("object/scripted/x")));
}

TEST_F(ObjectHostOwnership, AnObjectThatLeavesMemoryIsFreeForOthers) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 1));
  value_or_throw(a_.host.deactivate<Scripted>("x"));
  EXPECT_EQ(b_.host.call<&Scripted::add>("x", 1), 2);
  value_or_throw(b_.host.erase<Scripted>("x"));
  EXPECT_EQ(a_.host.call<&Scripted::add>("x", 5), 5);
  value_or_throw(a_.host.stop());
  EXPECT_EQ(b_.host.call<&Scripted::add>("x", 1), 6);
  EXPECT_EQ(a_.provider.held(), 0U);
}

TEST_F(ObjectHostOwnership, AFailedCreationLeavesNoLease) {
  a_.script->on_created = [] { throw std::runtime_error("out of paper"); };
  EXPECT_EQ(answer(a_.host.create<Scripted>("x")), "failed");
  EXPECT_EQ(a_.provider.held(), 0U);
  EXPECT_EQ(b_.host.create<Scripted>("x"), CreateStatus::created);
}

TEST_F(ObjectHostOwnership, TheLeaseIsRenewedWhileTheObjectIsActive) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 1));
  for (int i = 0; i < 20; ++i) {
    place_.clock.advance(kTtl / 6);
    // Wait until the keeper has renewed before the next step.
    EXPECT_TRUE(eventually([&] {
      const auto state = value_or_throw(place_.leases->look("object/scripted/x"));
      return state && !state->holders.empty() && state->holders.front().time_left > kTtl / 2;
    }));
  }
  EXPECT_EQ(answer(b_.host.call<&Scripted::value>("x")), "busy");
  EXPECT_EQ(a_.host.call<&Scripted::value>("x"), 1);
}

TEST_F(ObjectHostOwnership, ALostObjectLeavesMemoryUnsaved) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 1));
  place_.sleep_past_the_ttl();
  EXPECT_TRUE(eventually([&] { return a_.host.count() == 0; }));
  EXPECT_EQ(a_.host.stats().lost, 1U);
  EXPECT_TRUE(place_.repository->batches().empty());
  EXPECT_EQ(a_.host.call<&Scripted::add>("x", 1), 1);  // loaded again
}

TEST_F(ObjectHostOwnership, ACallAfterTheLossSeesWhatTheSuccessorWrote) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  place_.sleep_past_the_ttl();
  EXPECT_EQ(b_.host.call<&Scripted::add>("x", 1), 1);
  EXPECT_EQ(answer(a_.host.call<&Scripted::add>("x", 1)), "busy");
  EXPECT_EQ(a_.host.stats().lost, 1U);
  value_or_throw(b_.host.deactivate<Scripted>("x"));
  EXPECT_EQ(a_.host.call<&Scripted::add>("x", 1), 2);
}

// The process is stopped while the method runs; when it resumes, its successor has come and left.
TEST_F(ObjectHostOwnership, AStoppedProcessCannotOverwriteItsSuccessor) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  value_or_throw(a_.host.save<Scripted>("x"));
  std::string saved;
  a_.script->on_work = [&] {
    place_.sleep_past_the_ttl();
    EXPECT_EQ(b_.host.call<&Scripted::add>("x", 1), 101);
    value_or_throw(b_.host.save<Scripted>("x"));
    value_or_throw(a_.host.call<&Scripted::touch>("x"));
    saved = answer(a_.host.save<Scripted>("x"));
  };
  const auto called = a_.host.call<&Scripted::work>("x");
  EXPECT_EQ(saved, "lost");
  EXPECT_EQ(answer(called), "lost");
  EXPECT_TRUE(eventually([&] {
    place_.clock.advance(
        50ms);  // the caretaker looks again after this time if the object was in use
    return a_.host.count() == 0;
  }));
  value_or_throw(b_.host.deactivate<Scripted>("x"));
  EXPECT_EQ(a_.host.call<&Scripted::value>("x"), 101);
}

// The successor has only loaded, and saves later: a save of the first one in between would be lost.
TEST_F(ObjectHostOwnership, ASaveAfterTheSuccessorsLoadIsRejected) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  value_or_throw(a_.host.save<Scripted>("x"));
  a_.script->on_work = [&] {
    place_.sleep_past_the_ttl();
    EXPECT_EQ(b_.host.call<&Scripted::value>("x"), 100);
    value_or_throw(a_.host.call<&Scripted::touch>("x"));
    EXPECT_EQ(answer(a_.host.save_all()), "lost");
  };
  EXPECT_EQ(answer(a_.host.call<&Scripted::work>("x")), "lost");
  EXPECT_EQ(b_.host.call<&Scripted::value>("x"), 100);
}

// There is no successor yet, so the repository would still accept the save.
TEST_F(ObjectHostOwnership, AnObjectThatIsKnownToBeLostIsNotWritten) {
  for (const char* id : {"x", "y"}) value_or_throw(a_.host.call<&Scripted::add>(id, 100));
  value_or_throw(a_.host.save_all());
  a_.script->on_work = [&] {
    place_.sleep_past_the_ttl();
    value_or_throw(a_.host.call<&Scripted::add>("x", 1));
    EXPECT_EQ(answer(a_.host.save<Scripted>("x")), "lost");
    EXPECT_EQ(answer(a_.host.save_all()), "lost");
  };
  EXPECT_EQ(answer(a_.host.call<&Scripted::work>("x")), "lost");
  EXPECT_EQ(b_.host.call<&Scripted::value>("x"), 100);

  const auto added = a_.host.together<Scripted>({"y"}, [&](Scripted& y) {
    y.add(1);
    place_.sleep_past_the_ttl();
  });
  EXPECT_EQ(answer(added), "lost");
  EXPECT_EQ(b_.host.call<&Scripted::value>("y"), 100);
}

// The lease ends during a save that succeeds.
TEST(ObjectHostEachCallOwnership, ASavedChangeIsNotReportedAsLost) {
  Place place;
  Process a(place, "anna", {.save = SaveWhen::each_call});
  place.repository->on_save = [&]() -> base::Result<void> {
    place.sleep_past_the_ttl();
    return {};
  };
  EXPECT_EQ(a.host.call<&Scripted::add>("x", 1), 1);
  EXPECT_EQ(a.host.call<&Scripted::value>("x"), 1);  // loaded once more
}

TEST_F(ObjectHostOwnership, AStoppedProcessCannotEraseItsSuccessorsObject) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  value_or_throw(a_.host.save<Scripted>("x"));
  // Stopped in the middle of the delete, after the last check of the lease.
  a_.script->on_deleting = [&] {
    place_.sleep_past_the_ttl();
    EXPECT_EQ(b_.host.call<&Scripted::add>("x", 1), 101);
    value_or_throw(b_.host.save<Scripted>("x"));
  };
  EXPECT_EQ(answer(a_.host.erase<Scripted>("x")), "lost");
  EXPECT_EQ(a_.host.count(), 0U);
  EXPECT_EQ(b_.host.call<&Scripted::value>("x"), 101);
}

TEST_F(ObjectHostOwnership, TogetherIsNeverHalfSaved) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  value_or_throw(a_.host.call<&Scripted::add>("y", 100));
  value_or_throw(a_.host.save_all());
  const auto moved =
      a_.host.together<Scripted, Scripted>({"x", "y"}, [&](Scripted& x, Scripted& y) {
        x.add(-1);
        y.add(1);
        place_.sleep_past_the_ttl();
        EXPECT_EQ(b_.host.call<&Scripted::value>("y"), 100);  // one of them has a new owner
      });
  EXPECT_EQ(answer(moved), "lost");
  EXPECT_EQ(a_.host.call<&Scripted::value>("x"), 100);
  EXPECT_EQ(b_.host.call<&Scripted::value>("y"), 100);
}

// The first request is stored but its reply is lost. Before it is repeated, one of the two objects
// has a new owner, so that the repetition is rejected. The stored state counts for both.
TEST_F(ObjectHostOwnership, ARejectionAfterAnUnknownOutcomeUndoesNothing) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  value_or_throw(a_.host.call<&Scripted::add>("y", 100));
  value_or_throw(a_.host.save_all());
  const auto token_of = [&](const std::string& id) {
    return value_or_throw(place_.leases->look("object/scripted/" + id))->holders.front().token;
  };
  int requests = 0;
  place_.repository->on_save = [&]() -> base::Result<void> {
    switch (++requests) {
      case 1: {
        const std::array<store::ObjectSave, 2> saves{
            {{{"scripted", "x"}, R"({"value":99})", token_of("x")},
             {{"scripted", "y"}, R"({"value":101})", token_of("y")}}};
        value_or_throw(place_.repository->save(saves, store::Batch::all_or_none));
        return base::fail(ErrorCode::unknown_outcome, "no answer");
      }
      case 3:
        place_.sleep_past_the_ttl();
        EXPECT_EQ(b_.host.call<&Scripted::value>("y"), 101);
        return {};
      default: return {};  // the request that the first one makes
    }
  };
  const auto moved = a_.host.together<Scripted, Scripted>({"x", "y"}, [](Scripted& x, Scripted& y) {
    x.add(-1);
    y.add(1);
  });
  EXPECT_EQ(answer(moved), "unknown_outcome");
  EXPECT_EQ(requests, 3);
  EXPECT_EQ(a_.host.call<&Scripted::value>("x"), 99);
  EXPECT_EQ(b_.host.call<&Scripted::value>("y"), 101);
}

TEST_F(ObjectHostOwnership, AStopDoesNotSaveLostObjects) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  place_.sleep_past_the_ttl();
  EXPECT_EQ(b_.host.call<&Scripted::add>("x", 1), 1);
  value_or_throw(b_.host.save<Scripted>("x"));
  static_cast<void>(a_.host.stop());
  EXPECT_EQ(a_.host.count(), 0U);
  EXPECT_EQ(b_.host.call<&Scripted::value>("x"), 1);
}

TEST_F(ObjectHostOwnership, AStopReportsThatChangesAreLost) {
  value_or_throw(a_.host.call<&Scripted::add>("x", 100));
  a_.script->on_to_data = [&] { place_.sleep_past_the_ttl(); };
  EXPECT_EQ(answer(a_.host.stop()), "lost");
  EXPECT_EQ(a_.host.count(), 0U);
  EXPECT_EQ(a_.host.stats().lost, 1U);
  EXPECT_EQ(answer(a_.host.stop()), "done");
}

TEST(ObjectHostIdleOwnership, AnIdleObjectMovesToItsCaller) {
  Place place;
  Process a(place, "anna", {}, kTtl / 3);
  place.clock.wait_for_sleepers(1);  // its thread has started
  Process b(place, "bert");
  value_or_throw(a.host.call<&Scripted::add>("x", 1));
  EXPECT_EQ(answer(b.host.call<&Scripted::add>("x", 1)), "busy");
  place.clock.advance(kTtl / 2);
  EXPECT_TRUE(eventually([&] { return a.host.stats().idle == 1; }));  // counted last
  EXPECT_EQ(a.host.count(), 0U);
  EXPECT_EQ(b.host.call<&Scripted::add>("x", 1), 2);
}

TEST(ObjectHostWaiting, ACallWaitsForTheOwnerToReleaseTheObject) {
  Place place;
  Process a(place, "anna");
  locks::LockProvider provider(place.leases, {.owner = "bert"});
  ObjectHost host(place.repository,
                  {.ownership = {.provider = &provider, .wait = 60s}, .save_every = std::nullopt});
  const auto script = std::make_shared<Script>();
  host.register_type<Scripted>("scripted", {}, [&] { return std::make_unique<Scripted>(script); });
  value_or_throw(a.host.call<&Scripted::add>("x", 1));
  std::jthread waiter([&] { EXPECT_EQ(host.call<&Scripted::add>("x", 1), 2); });
  EXPECT_TRUE(eventually([&] { return provider.waiting() == 1; }));
  value_or_throw(a.host.deactivate<Scripted>("x"));
}

TEST(ObjectHostWaiting, AStopEndsTheWaitForAnOwner) {
  Place place;
  Process a(place, "anna");
  locks::LockProvider provider(place.leases, {.owner = "bert"});
  ObjectHost host(place.repository, {.ownership = {.provider = &provider, .wait = 10min},
                                     .save_every = std::nullopt});
  const auto script = std::make_shared<Script>();
  host.register_type<Scripted>("scripted", {}, [&] { return std::make_unique<Scripted>(script); });
  value_or_throw(a.host.call<&Scripted::add>("x", 1));
  std::jthread waiter([&] { EXPECT_EQ(answer(host.call<&Scripted::add>("x", 1)), "cancelled"); });
  EXPECT_TRUE(eventually([&] { return provider.waiting() == 1; }));
  EXPECT_TRUE(host.stop());
}

}  // namespace
}  // namespace holdfast::objects
