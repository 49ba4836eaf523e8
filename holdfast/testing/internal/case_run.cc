#include <holdfast/testing/internal/case_run.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;

}  // namespace

std::optional<Place> place_for(const EngineUnderTest& engine, CaseTime time) {
  if (time == CaseTime::real && engine.make_real_time_place) {
    return engine.make_real_time_place();
  }
  Place place = engine.make_place();
  if (time == CaseTime::real && place.advance) {
    return std::nullopt;
  }
  return place;
}

CaseRun::CaseRun(const EngineUnderTest& engine, Place place)
    : engine_(engine),
      place_(std::move(place)),
      clock_(place_.advance ? std::make_unique<base::ManualClock>() : nullptr),
      store_(place_.open()),
      network_(std::make_shared<FaultyStore>(store_)) {}

locks::ProviderOptions CaseRun::with_clock(locks::ProviderOptions options) const {
  if (clock_ != nullptr) {
    options.clock = clock_.get();
  }
  return options;
}

base::Duration CaseRun::ttl() const { return clock_moves() ? base::Duration(30s) : 1s; }

void CaseRun::pass(base::Duration time) {
  if (clock_moves()) {
    // The store first, so that a lease never seems longer to its holder than it is.
    place_.advance(time);
    clock_->advance(time);
    return;
  }
  const std::string name = "a lease to wait for " + to_string(base::LeaseId::generate());
  abandon(name, time);
  if (!soon([&] { return holders(name).empty(); })) {
    throw std::runtime_error("the store's clock stands still");
  }
}

void CaseRun::step() {
  if (clock_moves()) {
    pass(ttl() / 100);
  }
  std::this_thread::sleep_for(1ms);
}

void CaseRun::keep_for(std::string_view name, base::Duration time) {
  const auto is_renewed = [&] {
    const auto now = holders(name);
    return now.empty() || now[0].time_left > ttl() * 4 / 5;
  };
  for (base::Duration passed{}; passed < time; passed += ttl() / 3) {
    pass(ttl() / 3);
    EXPECT_TRUE(soon(is_renewed));
  }
}

base::LeaseId CaseRun::abandon(std::string_view name, base::Duration ttl) {
  const auto id = base::LeaseId::generate();
  const auto outcome =
      store_->claim(name, {.id = id, .owner = "the dead", .reason = {}, .ttl = ttl});
  if (!std::holds_alternative<store::Grant>(base::value_or_throw(outcome))) {
    throw std::runtime_error("the name is held already");
  }
  return id;
}

std::vector<store::Holder> CaseRun::holders(std::string_view name) {
  const auto state = base::value_or_throw(store_->look(name));
  return state ? state->holders : std::vector<store::Holder>();
}

std::optional<base::ErrorCode> code_thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const base::Exception& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace holdfast::testing::internal
