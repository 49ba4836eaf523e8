// Three nodes that share out the slots: all of a name is on one of them.

#include <array>
#include <atomic>
#include <future>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <tests/redis/redis_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Claim;
using store::Grant;
using store::ReleaseOutcome;
using store::RenewOutcome;

class Cluster : public ::testing::Test {
 protected:
  static constexpr std::size_t kNodes = 3;
  static constexpr std::size_t kSlots = 16384;

  void SetUp() override {
    for (std::size_t i = 0; i < kNodes; ++i) {
      RedisClient node(servers_[i].port());
      ASSERT_EQ(node.run({"CLUSTER", "ADDSLOTSRANGE", std::to_string(kSlots * i / kNodes),
                          std::to_string((kSlots * (i + 1) / kNodes) - 1)}),
                "OK");
      if (i > 0) {
        ASSERT_EQ(node.run({"CLUSTER", "MEET", "127.0.0.1", std::to_string(servers_[0].port()),
                            std::to_string(servers_[0].bus_port())}),
                  "OK");
      }
    }
    for (const RedisServer& server : servers_) {
      RedisClient node(server.port());
      ASSERT_TRUE(eventually([&] {
        const std::string info = node.run({"CLUSTER", "INFO"});
        return info.contains("cluster_state:ok") && info.contains("cluster_size:3");
      }));
    }
    for (std::size_t i = 0; i < kNodes; ++i) {
      stores_[i] = open_store(servers_[i].port());
    }
  }

  // The node that has the name; the others refuse it.
  store::LeaseStore& node_of(const std::string& name) {
    std::vector<store::LeaseStore*> found;
    for (const auto& store : stores_) {
      const auto state = store->look(name);
      if (state) {
        found.push_back(store.get());
      } else {
        EXPECT_EQ(state.error().code, ErrorCode::unsupported) << state.error().message;
      }
    }
    EXPECT_EQ(found.size(), 1U) << name;
    return *found.at(0);
  }

  // Names that the first node has, all in different slots.
  std::vector<std::string> names_of_first_node(std::size_t count) {
    std::vector<std::string> names;
    for (int i = 0; names.size() < count; ++i) {
      const std::string name = "job " + std::to_string(i);
      if (&node_of(name) == stores_[0].get()) {
        names.push_back(name);
      }
    }
    return names;
  }

  const std::array<RedisServer, kNodes> servers_{RedisServer({.cluster = true}),
                                                 RedisServer({.cluster = true}),
                                                 RedisServer({.cluster = true})};
  std::array<std::unique_ptr<store::LeaseStore>, kNodes> stores_;
};

TEST_F(Cluster, NoOperationOnANameTouchesTwoNodes) {
  std::vector<std::string> names = {"a", "{a}b", "a}b", "{}a", "}{", "x{y", "hf:{a}"};
  for (int i = 0; i < 20; ++i) {
    names.push_back("job " + std::to_string(i));
  }
  std::set<const store::LeaseStore*> used;
  for (const std::string& name : names) {
    store::LeaseStore& store = node_of(name);
    used.insert(&store);
    const auto watch = store.watch(name, [](const auto&) {});
    const Claim one = wish();
    const Claim two = wish();
    expect<Grant>(store.claim(name, one));
    expect<store::Busy>(store.claim(name, two));
    expect<Grant>(store.transfer(name, one.id, two));
    const store::Renewal renewal{.name = name, .id = two.id, .ttl = 1min};
    EXPECT_EQ(base::value_or_throw(store.renew({&renewal, 1})).at(0), RenewOutcome::renewed);
    EXPECT_EQ(base::value_or_throw(store.look(name))->holders.size(), 1U);
    EXPECT_EQ(store.release(name, two.id), ReleaseOutcome::released);
    const Claim reader = wish(store::Permits::reader());
    const Claim writer = wish(store::Permits::writer());
    expect<Grant>(store.claim(name, reader));
    expect<store::Busy>(store.claim(name, writer));
    EXPECT_EQ(store.release(name, reader.id), ReleaseOutcome::released);
    EXPECT_TRUE(base::value_or_throw(store.hit(name, {.limit = 1, .period = 1min})).allowed);
  }
  EXPECT_EQ(used.size(), kNodes);
}

// They cannot be joined to one command there.
TEST_F(Cluster, ManyCallersAtOnceAreServed) {
  store::LeaseStore& store = *stores_[0];
  const std::vector<std::string> names = names_of_first_node(16);
  std::vector<std::future<void>> callers;
  for (const std::string& name : names) {
    callers.push_back(std::async(std::launch::async, [&store, &name] {
      for (int i = 0; i < 100; ++i) {
        const Claim claim = wish();
        expect<Grant>(store.claim(name, claim));
        EXPECT_EQ(store.release(name, claim.id), ReleaseOutcome::released);
      }
    }));
  }
  for (std::future<void>& caller : callers) {
    caller.get();
  }
}

TEST_F(Cluster, ManyLeasesOfOneNodeAreRenewedTogether) {
  store::LeaseStore& store = *stores_[0];
  const std::vector<std::string> names = names_of_first_node(8);
  std::vector<Claim> claims;
  std::vector<store::Renewal> renewals;
  for (const std::string& name : names) {
    claims.push_back(wish({}, 1min));
    expect<Grant>(store.claim(name, claims.back()));
    renewals.push_back({.name = name, .id = claims.back().id, .ttl = 10min});
  }
  EXPECT_EQ(store.release(names[3], claims[3].id), ReleaseOutcome::released);
  for (int round = 0; round < 2; ++round) {
    const auto outcomes = base::value_or_throw(store.renew(renewals));
    ASSERT_EQ(outcomes.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(outcomes[i], i == 3 ? RenewOutcome::lost : RenewOutcome::renewed) << names[i];
    }
  }
  EXPECT_GT(base::value_or_throw(store.look(names[0]))->holders.at(0).time_left, 5min);
}

TEST_F(Cluster, ALeaseThatTheNodeRefusesDoesNotFailItsNeighbours) {
  store::LeaseStore& store = *stores_[0];
  const std::string here = names_of_first_node(1).at(0);
  std::string elsewhere = "job";
  while (&node_of(elsewhere) == &store) {
    elsewhere += "!";
  }
  const Claim claim = wish({}, 1min);
  expect<Grant>(store.claim(here, claim));
  const std::array<store::Renewal, 2> renewals{
      store::Renewal{.name = elsewhere, .id = claim.id, .ttl = 10min},
      store::Renewal{.name = here, .id = claim.id, .ttl = 10min}};
  EXPECT_EQ(base::value_or_throw(store.renew(renewals)),
            (std::vector{RenewOutcome::failed, RenewOutcome::renewed}));
  const auto alone = store.renew(std::span(renewals).first(1));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::unsupported);
}

TEST_F(Cluster, TheLocksOfANodeAreListed) {
  const std::vector<std::string> names = names_of_first_node(8);
  for (const std::string& name : names) {
    expect<Grant>(stores_[0]->claim(name, wish()));
  }
  const store::Page page = base::value_or_throw(stores_[0]->list(""));
  std::set<std::string> listed;
  for (const store::NameState& state : page.names) {
    listed.emplace(state.name.view());
  }
  EXPECT_EQ(listed, std::set<std::string>(names.begin(), names.end()));
}

// A message goes to all nodes; the subscribers of a channel are known to one.
TEST_F(Cluster, AReleaseGivesTheNameToTheClaimThatWaits) {
  store::LeaseStore& store = node_of("job");
  const Claim first = wish();
  expect<Grant>(store.claim("job", first));
  std::atomic<int> calls = 0;
  const auto watch = base::value_or_throw(store.watch("job", [&](const auto&) { ++calls; }));
  Claim waiting = wish();
  waiting.waits = true;
  EXPECT_TRUE(expect<store::Busy>(store.claim("job", waiting)).pending);
  EXPECT_EQ(store.release("job", first.id), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  EXPECT_EQ(base::value_or_throw(store.look("job"))->holders.at(0).id, waiting.id);
}

}  // namespace
}  // namespace holdfast::tests
