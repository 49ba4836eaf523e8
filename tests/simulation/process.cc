#include <tests/simulation/process.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <tests/simulation/names.h>

#include <holdfast/base/saturate.h>

namespace holdfast::simulation {

namespace {

using base::ErrorCode;
using base::Result;
using locks::internal::Background;
using store::Permits;
using store::RenewOutcome;
using namespace std::chrono_literals;

// The most by which a clock runs too fast or too slow, in millionths: so that two clocks together
// differ by less than the margin of a lease.
constexpr int kMostDrift = 8'000;
constexpr base::Duration kWatchLasts = 250ms;

int drift_of(const World& world, int process, FaultId drifts) {
  const std::uint64_t drawn = mix(world.setting.seed ^ 0xd51f, static_cast<std::uint64_t>(process));
  return drifts == 0 ? 0 : static_cast<int>(drawn % (2 * kMostDrift + 1)) - kMostDrift;
}

store::Capabilities capabilities_of(Wakes wakes) {
  return {.engine = "simulated",
          .push = wakes != Wakes::never,
          .cross_process = true,
          .cross_machine = true,
          .queues_claims = wakes == Wakes::by_queue};
}

}  // namespace

// The part of the store that the provider sees: its watches. Everything else it asks through its
// steps.
class Process::Store final : public store::LeaseStore {
 public:
  explicit Store(Process& process) : process_(process) {}

  [[nodiscard]] store::Capabilities capabilities() const override {
    return capabilities_of(process_.world_.setting.wakes);
  }

 private:
  static std::unexpected<base::Error> by_steps() {
    return base::fail(ErrorCode::unsupported, "a simulated store is asked by steps");
  }
  Result<store::ClaimOutcome> do_claim(const base::Name& /*name*/, const store::Claim& /*claim*/,
                                       base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<std::vector<RenewOutcome>> do_renew(std::span<const store::Renewal> /*renewals*/,
                                             base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<store::TransferOutcome> do_transfer(const base::Name& /*name*/,
                                             const base::LeaseId& /*from*/,
                                             const store::Claim& /*to*/,
                                             base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<store::ReleaseOutcome> do_release(const base::Name& /*name*/, const base::LeaseId& /*id*/,
                                           base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<std::optional<store::NameState>> do_look(const base::Name& /*name*/,
                                                  base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<store::Page> do_list(std::string_view /*prefix*/, const store::PageRequest& /*page*/,
                              base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<store::HitOutcome> do_hit(const base::Name& /*name*/, const store::Hit& /*hit*/,
                                   base::Deadline /*deadline*/) override {
    return by_steps();
  }
  Result<store::Watch> do_watch(const base::Name& name, store::WatchCallback callback) override {
    process_.watched_ = number_of(name.view());
    if (process_.world_.setting.wakes == Wakes::never) {
      return by_steps();
    }
    return process_.watches_.subscribe(name.view(), std::move(callback));
  }

  Process& process_;
};

// A procedure of the provider that runs beside its callers, by events.
class Process::BackgroundEvents final : public Background {
 public:
  BackgroundEvents(Process& process, locks::steps::Procedure& procedure)
      : process_(process),
        procedure_(process, procedure, process.backgrounds_.empty()),
        driver_(process.surroundings(), procedure_, [] {}) {
    process_.backgrounds_.push_back(this);
  }
  ~BackgroundEvents() override { std::erase(process_.backgrounds_, this); }

  // Not at once: the caller has locked a mutex that the procedure needs.
  bool start() override {
    if (!std::exchange(is_started_, true)) {
      process_.world_.timeline.after({}, &process_, [this] { driver_.start(); });
    }
    return true;
  }
  // The owner of a process destroys it when it is at rest.
  void join() noexcept override {}
  void wake() noexcept override { driver_.wake(); }
  [[nodiscard]] bool is_at_rest() const noexcept { return !is_started_ || driver_.is_done(); }

 private:
  // The procedure of the provider, with what is planted in it.
  class Planted final : public locks::steps::Procedure {
   public:
    Planted(const Process& process, locks::steps::Procedure& shipped, bool is_expirer)
        : process_(process), shipped_(shipped), is_expirer_(is_expirer) {}

    Step start() override { return plant(shipped_.start()); }
    Step on(locks::steps::Answer&& answer) override {
      return plant(shipped_.on(std::move(answer)));
    }
    Step on_exception() override { return plant(shipped_.on_exception()); }

   private:
    [[nodiscard]] Step plant(Step step) const {
      if (process_.world_.has(Bug::lost_at_a_tick) && is_expirer_ &&
          step.kind == Step::Kind::wait && step.until < base::TimePoint::max()) {
        const base::Duration tick = process_.world_.setting.ttl / 3;
        step.until += tick - step.until.time_since_epoch() % tick;
      }
      return step;
    }

    const Process& process_;
    locks::steps::Procedure& shipped_;
    const bool is_expirer_;  // the keeper makes it first
  };

  Process& process_;
  Planted procedure_;
  bool is_started_ = false;
  Driver driver_;
};

class Process::Runtime final : public locks::internal::Runtime {
 public:
  explicit Runtime(Process& process)
      : process_(process),
        random_(mix(process.world_.setting.seed ^ 0x9a4d,
                    static_cast<std::uint64_t>(process.number_))) {}

  [[nodiscard]] const base::Clock& request_clock() const noexcept override {
    return process_.clock_;
  }
  // The process is in the upper bits, for the server's messages.
  [[nodiscard]] base::LeaseId new_id() const override {
    return {(static_cast<std::uint64_t>(process_.number_) << 48U) | ++ids_, random_.next()};
  }
  [[nodiscard]] double random_fraction() const override { return random_.fraction(); }
  [[nodiscard]] std::unique_ptr<Background> background(
      locks::steps::Procedure& procedure, store::LeaseStore& /*store*/,
      const base::Clock& /*clock*/) const override {
    return std::make_unique<BackgroundEvents>(process_, procedure);
  }

 private:
  Process& process_;
  mutable Random random_;
  mutable std::uint64_t ids_ = 0;
};

Process::Process(World& world, Server& server, int number, AcquireRows& rows)
    : Actor(world.timeline),
      world_(world),
      server_(server),
      number_(number),
      rows_(rows),
      drifts_(world.faults.draw(Fault::clock_drifts, static_cast<std::uint64_t>(number), 0.7)),
      clock_(world.timeline, 1000s * (number + 1), drift_of(world, number, drifts_)),
      link_(world, server, *this, number,
            [this](int name, const store::Notice& notice) { on_notice(name, notice); }),
      runtime_(std::make_unique<Runtime>(*this)) {
  const Setting& setting = world.setting;
  core_ = locks::ProviderCore::make(std::make_shared<Store>(*this),
                                    {.owner = "p",
                                     .ttl = setting.ttl,
                                     .clock = &clock_,
                                     .poll_least = setting.poll_least,
                                     .poll_most = setting.poll_most,
                                     .warn_after = base::Duration::max(),
                                     .announce_after = setting.announce_after,
                                     .max_waiters_per_name = setting.max_waiters},
                                    *runtime_);
  for (int i = 0; i < setting.callers; ++i) {
    callers_.push_back(std::make_unique<Caller>(*this, i));
  }
}

Process::~Process() = default;

void Process::start() {
  for (const auto& caller : callers_) {
    caller->start();
  }
}

void Process::crash() {
  trace(world_, [&](std::ostream& out) { out << "p" << number_ << " crashes"; });
  is_dead_ = true;
  for (const auto& caller : callers_) {
    caller->die();
  }
  stop();
}

void Process::end() {
  trace(world_, [&](std::ostream& out) { out << "p" << number_ << " ends"; });
  has_ended_ = true;
  core_->shut_down();
}

void Process::resume() {
  trace(world_, [&](std::ostream& out) { out << "p" << number_ << " runs again"; });
  if (world_.has(Bug::suspend_is_not_counted)) {
    clock_.move(-(stopped_for() - stopped_before_));
    stopped_before_ = stopped_for();
  }
  resumed_at_ = clock_.now();
  go_on();
}

void Process::bury() {
  link_.abandon();
  go_on();
  for (const auto& caller : callers_) {
    caller->quit();
  }
  core_->shut_down();
}

bool Process::is_idle() const {
  return std::ranges::all_of(callers_, [](const auto& caller) { return caller->is_done(); });
}

bool Process::is_at_rest() const {
  return is_idle() && !link_.has_calls() &&
         std::ranges::all_of(backgrounds_, [](const auto* each) { return each->is_at_rest(); });
}

void Process::use_clock() { world_.faults.hit(Fault::clock_drifts, drifts_); }

void Process::check() {
  if (is_stopped()) {
    return;
  }
  for (const auto& caller : callers_) {
    caller->check();
  }
}

void Process::ask(const Step& step, Reply reply) {
  if (step.kind == Step::Kind::watch) {
    ask_watch(std::move(reply));
    return;
  }
  if (world_.has(Bug::grant_message_is_believed) && step.kind == Step::Kind::claim &&
      told_.contains(step.claim->id)) {
    world_.timeline.after({}, this, [reply = std::move(reply), ttl = step.claim->ttl]() mutable {
      reply(Result<store::ClaimOutcome>(
          store::Grant{.token = base::FencingToken(1), .time_left = ttl.unchecked()}));
    });
    return;
  }
  bool is_new = false;
  Request request = request_of(step, is_new);
  trace(world_, [&](std::ostream& out) {
    constexpr std::array<std::string_view, 4> kKinds{"claim", "transfer", "release", "renew"};
    out << "p" << number_ << " sends " << kKinds[static_cast<std::size_t>(step.kind)] << " "
        << step.name << " "
        << to_string(step.claim != nullptr ? step.claim->id : step.id).substr(0, 16);
  });
  const base::TimePoint sent = clock_.now();
  link_.send(request, clock_.true_time(step.deadline.when()),
             [this, request, is_new, sent,
              reply = std::move(reply)](std::optional<Answer> answer) mutable {
               if (answer) {
                 plant(request, *answer);
                 note_good(request, sent, *answer);
                 see_to_queue(request, is_new, *answer);
               } else if (request.kind == Step::Kind::release && request.is_queued) {
                 unanswered_.insert(request.id);  // the store threw an exception
               }
               reply(std::move(answer));
             });
}

void Process::plant(const Request& request, Answer& answer) const {
  if (world_.has(Bug::orphan_after_a_lost_reply) && request.kind == Step::Kind::claim) {
    auto& outcome = std::get<Result<store::ClaimOutcome>>(answer);
    if (!outcome && outcome.error().code == ErrorCode::unknown_outcome) {
      outcome = base::fail(ErrorCode::unavailable, "no reply");
    }
  }
  if (world_.has(Bug::batch_fails_as_a_whole) && request.kind == Step::Kind::renew) {
    auto& outcomes = std::get<Result<std::vector<RenewOutcome>>>(answer);
    if (outcomes && std::ranges::find(*outcomes, RenewOutcome::lost) != outcomes->end()) {
      std::ranges::fill(*outcomes, RenewOutcome::lost);
    }
  }
}

// Like WatchTable::add: the caller claims afterwards anyway, so a failure only means that it polls.
void Process::ask_watch(Reply reply) {
  if (world_.setting.wakes == Wakes::never) {
    world_.timeline.after({}, this, [reply = std::move(reply)]() mutable { reply(Answer()); });
    return;
  }
  wants_subscription_ = true;
  link_.send({.kind = Step::Kind::watch, .from = number_, .name = watched_},
             clock_.true_time(clock_.now() + kWatchLasts),
             [this, reply = std::move(reply)](std::optional<Answer> answer) mutable {
               is_listening_ |= answer && std::holds_alternative<locks::steps::Woken>(*answer);
               if (!is_listening_) {
                 subscribe();
               }
               reply(Answer());
             });
}

Request Process::request_of(const Step& step, bool& is_new) {
  Request request{.kind = step.kind, .from = number_, .id = step.id};
  for (const store::Renewal& renewal : step.renewals) {
    request.renewals.push_back(
        {.name = number_of(renewal.name), .id = renewal.id, .ttl = renewal.ttl.unchecked()});
  }
  if (step.kind == Step::Kind::renew) {
    return request;
  }
  request.name = number_of(step.name);
  request.listens =
      world_.setting.wakes == Wakes::by_queue && is_listening_ && watches_.has_watchers(step.name);
  if (step.claim != nullptr) {
    request.claim = *step.claim;
    request.claim.owner = "p";  // its own texts may end before the request arrives
    request.claim.reason = {};
  }
  const auto place = std::pair(request.name, step.claim != nullptr ? step.claim->id : step.id);
  if (step.kind == Step::Kind::claim && request.claim.permits == Permits::mutex()) {
    const bool waits = request.claim.waits && world_.setting.wakes == Wakes::by_queue;
    is_new = waits && queued_.insert(place).second;
    request.is_queued = queued_.contains(place);
    request.is_early = waits && !is_listening_;
    request.leaves = !waits && request.is_queued;
    if (request.leaves && watches_.count(step.name) < 2) {
      request.listens = false;  // only the waiter watches whose claim this is
    }
  } else if (step.kind == Step::Kind::release) {
    request.is_queued = queued_.erase(place) > 0;
  }
  return request;
}

// Like LeaseRequests of the Redis engine.
void Process::see_to_queue(const Request& request, bool is_new, Answer& answer) {
  const auto forget = [&](const base::LeaseId& id) { queued_.erase({request.name, id}); };
  if (auto* const claimed = std::get_if<Result<store::ClaimOutcome>>(&answer)) {
    if (!request.is_queued) {
      return;
    }
    if (!*claimed) {
      if (is_new && claimed->error().code != ErrorCode::unknown_outcome) {
        forget(request.claim.id);
      }
    } else if (auto* const busy = std::get_if<store::Busy>(&**claimed)) {
      if (request.leaves) {
        forget(request.claim.id);
      }
      busy->pending = queued_.contains({request.name, request.claim.id});
    } else {
      forget(request.claim.id);
    }
  } else if (auto* const transferred = std::get_if<Result<store::TransferOutcome>>(&answer)) {
    if (*transferred && !std::holds_alternative<store::HeldBack>(**transferred)) {
      forget(request.id);
      if (std::holds_alternative<store::Grant>(**transferred)) {
        forget(request.claim.id);
      }
    }
  } else if (auto* const released = std::get_if<Result<store::ReleaseOutcome>>(&answer)) {
    if (!*released && request.is_queued) {
      unanswered_.insert(request.id);
      queued_.insert({request.name, request.id});
    }
  }
}

void Process::note_good(const Request& request, base::TimePoint sent, const Answer& answer) {
  if (request.name >= kAcquired) {
    return;  // it shows that a caller waits: nobody relies on it
  }
  const auto ttl = [&] { return request.claim.ttl.unchecked(); };
  if (const auto* const claimed = std::get_if<Result<store::ClaimOutcome>>(&answer)) {
    if (*claimed && std::holds_alternative<store::Grant>(**claimed)) {
      rely(request.claim.id, sent, ttl());
    }
  } else if (const auto* const moved = std::get_if<Result<store::TransferOutcome>>(&answer)) {
    if (*moved && std::holds_alternative<store::Grant>(**moved)) {
      rely(request.claim.id, sent, ttl());
    }
  } else if (const auto* const all = std::get_if<Result<std::vector<RenewOutcome>>>(&answer);
             all != nullptr && *all) {
    for (std::size_t i = 0; i < (*all)->size(); ++i) {
      if ((**all)[i] == RenewOutcome::renewed) {
        rely(request.renewals[i].id, sent, request.renewals[i].ttl);
      }
    }
  }
}

// A fiftieth of the ttl, and at least a millisecond, is the margin that docs/safety.md speaks of.
void Process::rely(const base::LeaseId& id, base::TimePoint sent, base::Duration ttl) {
  base::TimePoint& limit = limits_.try_emplace(id, base::TimePoint::min()).first->second;
  limit = std::max(limit, sent + ttl - std::max<base::Duration>(ttl / 50, 1ms));
}

base::TimePoint Process::limit_of(const base::LeaseId& id) const {
  const auto found = limits_.find(id);
  return found == limits_.end() ? base::TimePoint::min() : found->second;
}

// Like WatchTable::on_message.
void Process::on_notice(int name, const store::Notice& notice) {
  trace(world_, [&](std::ostream& out) {
    out << "p" << number_ << " hears: " << name_of(name)
        << (notice.granted ? " granted to " + to_string(*notice.granted).substr(0, 16)
                           : std::string(" may be free"));
  });
  if (notice.granted) {
    told_.insert(*notice.granted);
  }
  if (notice.granted || watches_.has_watchers(name_of(name))) {
    watches_.notify(name_of(name), notice);
  } else if (link_.cut() == Link::Cut::no && !is_dead_) {
    world_.timeline.after(world_.setting.latency, &server_, [this, name] {
      if (server_.is_up()) {
        server_.pass_on(name);
      }
    });
  }
}

void Process::lose_subscription() {
  is_listening_ = false;
  if (wants_subscription_) {
    subscribe();
  }
}

void Process::subscribe() {
  if (std::exchange(is_subscribing_, true)) {
    return;
  }
  backoff_ = std::clamp<base::Duration>(backoff_ * 2, world_.setting.latency * 2,
                                        std::max<base::Duration>(1s, world_.setting.ttl / 4));
  world_.timeline.after(backoff_, this, [this] {
    is_subscribing_ = false;
    if (link_.cut() != Link::Cut::no || !server_.is_up()) {
      subscribe();
      return;
    }
    // A message that was published meanwhile is lost.
    server_.listen(number_);
    is_listening_ = true;
    backoff_ = {};
    watches_.notify_all();
  });
}

}  // namespace holdfast::simulation
