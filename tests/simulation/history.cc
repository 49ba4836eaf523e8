#include <tests/simulation/history.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <tests/simulation/names.h>
#include <tests/simulation/plan.h>
#include <tests/simulation/process.h>
#include <tests/simulation/server.h>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

// A server's queue is forgotten after a minute without a word.
constexpr base::Duration kQueueLasts = 61s;

class History {
 public:
  explicit History(const HistoryOptions& options)
      : world_{.setting = draw_setting(options.seed),
               .bug = options.bug,
               .faults = Faults(options.seed, options.only),
               .checker = Checker(kNames.size()),
               .trace = options.trace},
        server_(world_, [this](int process, int name, const store::Notice& notice) {
          processes_[static_cast<std::size_t>(process)]->notice(name, notice);
        }) {}

  Outcome play();

 private:
  using ProcessPtr = std::unique_ptr<Process>;

  Process& add_process();
  void plan();
  void happen(const Planned& planned, FaultId id);
  void partition(const Planned& planned, FaultId id, Process& process);
  void stop_process(const Planned& planned, FaultId id, Process& process);
  void crash(const Planned& planned, FaultId id, Process& process);
  void forge(FaultId id, Process& process);
  void restart_server(const Planned& planned, FaultId id);
  void fail_over(const Planned& planned, FaultId id);
  void move_clock(const Planned& planned, FaultId id);
  void lose_subscriptions(base::Duration within);
  void check_crashed(int name, base::LeaseId id, Process& process, base::TimePoint crashed);

  // Lets events happen until `end`, or until `is_over` says so. Returns false once a promise is
  // broken.
  template <class IsOver>
  bool run(base::TimePoint end, IsOver&& is_over);
  bool run(base::TimePoint end) {
    return run(end, [] { return false; });
  }
  void end_faults();
  bool check_orphans();
  bool check_stuck();
  bool check_leftovers();
  [[nodiscard]] base::Duration patience() const;
  void bury();
  [[nodiscard]] Process& of(const Planned& planned) {
    return *processes_[static_cast<std::size_t>(planned.process)];
  }

  World world_;
  AcquireRows rows_;
  Server server_;
  std::vector<ProcessPtr> processes_;
  base::Duration set_back_{};    // by how much the server's clock was, altogether
  bool is_over_ = false;         // what was planned for later does not happen
  bool is_clock_moved_ = false;  // that of the server: its times mean nothing any more
};

Process& History::add_process() {
  processes_.push_back(
      std::make_unique<Process>(world_, server_, static_cast<int>(processes_.size()), rows_));
  return *processes_.back();
}

void History::plan() {
  std::vector<Planned> planned = draw_plan(world_.setting);
  for (const Planned& each : planned) {
    const FaultId id = world_.faults.take(each.fault, each.number);
    if (id == 0) {
      continue;
    }
    if (each.fault == Fault::failed_over) {
      server_.replicate(each.lasts / 3);
    }
    world_.timeline.at(each.at, nullptr, [this, each, id] { happen(each, id); });
  }
}

void History::happen(const Planned& planned, FaultId id) {
  if (is_over_) {
    return;
  }
  Process& process = of(planned);
  trace(world_, [&](std::ostream& out) {
    out << "fault: " << to_string(planned.fault) << " (p" << process.number() << ", "
        << std::chrono::duration<double>(planned.lasts).count() << " s)";
  });
  const bool is_of_process =
      planned.fault == Fault::partition || planned.fault == Fault::process_stopped ||
      planned.fault == Fault::process_crashed || planned.fault == Fault::process_ended ||
      planned.fault == Fault::notice_forged;
  if (is_of_process && (process.is_dead() || process.is_stopped() || process.has_ended())) {
    return;
  }
  switch (planned.fault) {
    case Fault::partition: partition(planned, id, process); break;
    case Fault::process_stopped: stop_process(planned, id, process); break;
    case Fault::process_crashed: crash(planned, id, process); break;
    case Fault::process_ended:
      if (!process.is_idle()) {
        world_.faults.hit(planned.fault, id);
      }
      process.end();
      break;
    case Fault::notice_forged: forge(id, process); break;
    case Fault::server_stalled:
      server_.stop();
      world_.timeline.after(planned.lasts / 3, nullptr, [this, id] {
        if (server_.has_deferred()) {
          world_.faults.hit(Fault::server_stalled, id);
        }
        server_.go_on();
      });
      break;
    case Fault::server_restarted:
    case Fault::server_restarted_empty: restart_server(planned, id); break;
    case Fault::failed_over: fail_over(planned, id); break;
    case Fault::clock_forward:
    case Fault::clock_backward: move_clock(planned, id); break;
    default: break;
  }
}

void History::partition(const Planned& planned, FaultId id, Process& process) {
  const auto how = planned.is_odd ? Link::Cut::silent : Link::Cut::refused;
  process.link().cut(how, Fault::partition, id);
  const auto notice = [this, &process] {
    if (process.link().cut() != Link::Cut::no) {
      server_.stop_listening(process.number());
      process.lose_subscription();
    }
  };
  if (how == Link::Cut::refused) {
    notice();
  } else {
    world_.timeline.after(Random(mix(world_.setting.seed, id)).of_any_size(100ms, 6s), nullptr,
                          notice);
  }
  world_.timeline.after(planned.lasts, nullptr, [&process] { process.link().cut(Link::Cut::no); });
}

void History::stop_process(const Planned& planned, FaultId id, Process& process) {
  process.stop();
  world_.timeline.after(planned.lasts, nullptr, [this, id, &process] {
    if (process.is_dead()) {
      return;
    }
    if (process.has_deferred()) {
      world_.faults.hit(Fault::process_stopped, id);
    }
    process.resume();
  });
}

void History::crash(const Planned& planned, FaultId id, Process& process) {
  for (const auto& caller : process.callers()) {
    if (const locks::Lock* const lock = caller->lock()) {
      world_.faults.hit(Fault::process_crashed, id);
      world_.checker.count(Promise::crash_frees);
      check_crashed(caller->name(), lock->id(), process, world_.timeline.now());
    } else if (!caller->is_done()) {
      world_.faults.hit(Fault::process_crashed, id);
    }
  }
  process.crash();
  const base::Duration unnoticed = planned.is_odd
                                       ? base::Duration::zero()
                                       : Random(mix(world_.setting.seed, id)).of_any_size(10ms, 5s);
  world_.timeline.after(unnoticed, nullptr,
                        [this, &process] { server_.stop_listening(process.number()); });
  if (planned.number % 4 != 0) {
    world_.timeline.after(planned.lasts / 3, nullptr, [this] { add_process().start(); });
  }
}

// The store does not know of the crash: a request that is still under way may let the lease last.
void History::check_crashed(int name, base::LeaseId id, Process& process, base::TimePoint crashed) {
  const base::Duration longest = world_.setting.ttl * 2;
  const base::TimePoint from = std::max(crashed, process.link().last_handled());
  const base::TimePoint free = from + longest + longest / 50 + 10ms;
  world_.timeline.at(free, nullptr, [this, name, id, &process, crashed, from] {
    if (process.link().last_handled() > from) {
      check_crashed(name, id, process, crashed);
    } else if (server_.holds(name, id) && set_back_ == base::Duration::zero()) {
      world_.checker.fail(Promise::crash_frees, "the lease " + to_string(id).substr(0, 16) +
                                                    " of a crashed process is still there after "
                                                    "its ttl");
    }
  });
}

void History::forge(FaultId id, Process& process) {
  for (const auto& caller : process.callers()) {
    if (!caller->claim_id().is_nil()) {
      world_.faults.hit(Fault::notice_forged, id);
      process.forge(caller->name(), {.granted = caller->claim_id()});
    }
  }
}

void History::lose_subscriptions(base::Duration within) {
  for (const ProcessPtr& process : processes_) {
    world_.timeline.after(within, process.get(),
                          [&process = *process] { process.lose_subscription(); });
  }
}

void History::restart_server(const Planned& planned, FaultId id) {
  if (!server_.is_up()) {
    return;
  }
  server_.shut_down();
  lose_subscriptions(world_.setting.latency);
  world_.timeline.after(planned.lasts / 6, nullptr, [this, planned, id] {
    if (server_.is_up()) {
      return;
    }
    const bool is_empty = planned.fault == Fault::server_restarted_empty;
    const bool has_lost =
        server_.come_up(is_empty ? Server::Keeps::nothing : Server::Keeps::everything);
    if (has_lost || !is_empty) {
      world_.faults.hit(planned.fault, id);
    }
  });
}

void History::fail_over(const Planned& planned, FaultId id) {
  if (server_.fail_over()) {
    world_.faults.hit(planned.fault, id);
  }
  lose_subscriptions(world_.setting.latency);
}

void History::move_clock(const Planned& planned, FaultId id) {
  const bool is_forward = planned.fault == Fault::clock_forward;
  is_clock_moved_ = true;
  if (server_.move_clock(is_forward ? planned.lasts : -planned.lasts)) {
    world_.faults.hit(planned.fault, id);
  }
  if (!is_forward) {
    set_back_ += planned.lasts;
  }
}

template <class IsOver>
bool History::run(base::TimePoint end, IsOver&& is_over) {
  while (!is_over() && world_.timeline.step(end)) {
    if (Actor* const actor = world_.timeline.last_actor(); actor != nullptr && actor != &server_) {
      static_cast<Process*>(actor)->check();
    }
    if (world_.checker.violation()) {
      return false;
    }
  }
  return !world_.checker.violation();
}

void History::end_faults() {
  trace(world_, [](std::ostream& out) { out << "the faults are over"; });
  world_.faults.end();
  if (!server_.is_up()) {
    server_.come_up(Server::Keeps::everything);
  }
  server_.go_on();
  for (const ProcessPtr& process : processes_) {
    process->link().cut(Link::Cut::no);
    if (process->is_stopped() && !process->is_dead()) {
      process->resume();
    }
  }
}

// Returns how long waiters may take to be served, one after the other, when nothing goes wrong.
base::Duration History::patience() const {
  const Setting& setting = world_.setting;
  const auto callers = static_cast<int>(processes_.size()) * setting.callers;
  return kQueueLasts + setting.ttl * 8 + set_back_ +
         callers * (setting.longest_hold * 2 + setting.poll_most * 2 + 40s);
}

bool History::check_stuck() {
  for (const ProcessPtr& process : processes_) {
    world_.checker.count(Promise::nobody_is_stuck);
    if (!process->is_dead() && !process->is_idle()) {
      for (const auto& caller : process->callers()) {
        if (!caller->is_done()) {
          world_.checker.fail(Promise::nobody_is_stuck,
                              caller->label() + " still waits, long after the last fault");
        }
      }
    }
  }
  return !world_.checker.violation();
}

// A call that has ended without a lock has left nothing in the store: neither a lease nor a claim
// in the queue. A request that was still under way may have come later: what it left runs out.
bool History::check_orphans() {
  for (const ProcessPtr& process : processes_) {
    if (process->is_dead() || process->has_ended()) {
      continue;
    }
    for (const auto& caller : process->callers()) {
      for (const Caller::Ended& ended : caller->ended()) {
        world_.checker.count(Promise::nothing_is_left);
        if (process->link().came_late(ended.id) || is_clock_moved_) {
          continue;
        }
        const auto* const lease = server_.find_live(ended.name, ended.id);
        if (lease != nullptr && server_.granted_at(ended.name, ended.id) <= ended.when) {
          world_.checker.fail(
              Promise::nothing_is_left,
              "a call of " + caller->label() + " that gave up has left a lease in the store");
        }
        const auto since = server_.queued_since(ended.name, ended.id);
        if (since && *since <= ended.when && !process->is_release_unanswered(ended.id)) {
          world_.checker.fail(Promise::nothing_is_left,
                              "a call of " + caller->label() +
                                  " that gave up has left its claim in the store's queue");
        }
      }
    }
  }
  return !world_.checker.violation();
}

bool History::check_leftovers() {
  world_.checker.count(Promise::nothing_is_left);
  if (server_.has_leftovers()) {
    world_.checker.fail(Promise::nothing_is_left, "the store still has a lease or a waiter");
  }
  for (const ProcessPtr& process : processes_) {
    if (process->is_dead()) {
      continue;
    }
    if (process->core()->keeper.size() != 0 || process->core()->queues.waiting() != 0) {
      world_.checker.fail(Promise::nothing_is_left,
                          "p" + std::to_string(process->number()) +
                              " still keeps a lease, or has a waiter in a queue");
    }
  }
  return !world_.checker.violation();
}

void History::bury() {
  is_over_ = true;
  world_.trace = nullptr;
  world_.faults.end();
  server_.go_on();
  for (const ProcessPtr& process : processes_) {
    process->bury();
  }
  constexpr int kMostEvents = 1'000'000;
  for (int events = 0; events < kMostEvents; ++events) {
    if (std::ranges::all_of(processes_, [](const auto& each) { return each->is_at_rest(); })) {
      return;
    }
    if (!world_.timeline.step(base::TimePoint::max() - 1ns)) {
      break;
    }
  }
  std::fprintf(stderr, "seed %llu: the simulation itself does not come to rest\n",
               static_cast<unsigned long long>(world_.setting.seed));
  std::abort();
}

Outcome History::play() {
  for (int i = 0; i < world_.setting.processes; ++i) {
    add_process();
  }
  for (int i = 0; i < world_.setting.processes; ++i) {
    processes_[static_cast<std::size_t>(i)]->start();
  }
  plan();
  const auto are_idle = [this] {
    return std::ranges::all_of(processes_,
                               [](const auto& each) { return each->is_dead() || each->is_idle(); });
  };
  const base::TimePoint faults_end(world_.setting.lasts);
  bool is_fine = run(faults_end);
  if (is_fine) {
    end_faults();
    is_fine = run(faults_end + 6s) && check_orphans() &&
              run(world_.timeline.now() + patience(), are_idle) && check_stuck() &&
              run(world_.timeline.now() + kQueueLasts + world_.setting.ttl * 8 + set_back_ * 2) &&
              check_leftovers();
  }
  Outcome outcome{.violation = world_.checker.violation(),
                  .injected = world_.faults.injected(),
                  .faults = world_.faults.counts(),
                  .rows = rows_,
                  .checks = world_.checker.checks(),
                  .simulated = world_.timeline.now().time_since_epoch(),
                  .events = world_.timeline.events()};
  trace(world_, [&](std::ostream& out) {
    if (outcome.violation) {
      out << "BROKEN: " << to_string(outcome.violation->promise) << ": " << outcome.violation->what;
    }
  });
  bury();
  return outcome;
}

}  // namespace

Outcome play(const HistoryOptions& options) { return History(options).play(); }

}  // namespace holdfast::simulation
