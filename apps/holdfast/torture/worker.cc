#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <holdfast/engines/open_store.h>
#include <holdfast/recipes/reader_writer_lock.h>
#include <holdfast/recipes/semaphore.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/torture/worker.h"

namespace holdfast::cli::torture {

namespace {

using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;

constexpr Duration kStep = milliseconds(2);
constexpr Duration kReportEvery = milliseconds(50);
constexpr Duration kAfterAFailure = milliseconds(50);

TimePoint now() { return base::boot_clock().now(); }

}  // namespace

Worker::Worker(const Settings& settings, std::uint32_t number, int reports)
    : settings_(settings), number_(number), reports_(reports), random_(settings.seed + number) {}

int Worker::work(TimePoint until) {
  until_ = until;
  provider_.emplace(base::value_or_throw(engines::open_store(settings_.worker_url)));
  while (now() < until) {
    turn();
  }
  provider_.reset();
  return kSuccess;
}

void Worker::turn() {
  const auto name = static_cast<std::uint32_t>(pick(settings_.names.size()));
  Message report{.worker = number_, .name = name, .asked = now()};
  auto lock = ask(settings_.names[name], report.permits);
  report.time = now();
  if (!lock) {
    send_failure(report, lock.error());
    std::this_thread::sleep_for(kAfterAFailure);
  } else if (!*lock) {
    report.event = Message::Event::busy;
    send(report);
  } else {
    report.event = Message::Event::granted;
    report.token = (*lock)->token().value();
    report.sure = report.time;
    send(report);
    hold(**lock, report);
  }
}

base::Result<std::optional<locks::Lock>> Worker::ask(const LockName& name, std::uint32_t& permits) {
  const locks::AcquireOptions how{
      .ttl = settings_.ttl,
      .wait = Duration(pick(static_cast<std::uint64_t>(settings_.ttl.count())))};
  switch (name.kind) {
    case Kind::mutex: return provider_->try_acquire(name.text, how);
    case Kind::semaphore:
      permits = static_cast<std::uint32_t>(1 + pick(name.permits));
      return recipes::Semaphore(*provider_, name.text, name.permits).try_acquire(permits, how);
    case Kind::reader_writer: break;
  }
  recipes::ReaderWriterLock lock(*provider_, name.text);
  if (pick(3) == 0) {
    permits = name.permits;
    return lock.try_acquire_exclusive(how);
  }
  return lock.try_acquire_shared(how);
}

// Mostly short, so that there are many; at times longer than a ttl, so that renewals matter.
Duration Worker::time_to_hold() {
  const auto up_to = [this](Duration most) {
    return Duration(pick(static_cast<std::uint64_t>(most.count()) + 1));
  };
  const std::uint64_t chance = pick(20);
  if (chance == 0) {
    return up_to(settings_.ttl * 3 / 2);
  }
  return chance < 6 ? up_to(settings_.ttl / 4) : up_to(milliseconds(5));
}

void Worker::hold(locks::Lock& lock, const Message& granted) {
  Message report = granted;
  const bool is_mutex = settings_.names[granted.name].kind == Kind::mutex;
  std::optional<std::uint64_t> read;
  if (is_mutex) {
    read = read_register(lock, granted);
  }
  bool held = stay(lock, std::min(now() + time_to_hold(), until_), report);
  if (read) {
    // Without another look at the lock, as most programs do: what can come in between is the point.
    update(lock, *read, granted);
    held = stay(lock, now(), report);
  }
  const auto released = lock.release();
  if (!released) {
    send_failure(granted, released.error());
  }
  report.event = Message::Event::ended;
  report.end = held ? End::released : End::lost;
  report.time = now();
  send(report);
}

bool Worker::stay(const locks::Lock& lock, TimePoint until, Message& report) {
  TimePoint reported = now();
  while (true) {
    const TimePoint time = now();  // before the lock is asked: it was held then
    if (!lock.check()) {
      return false;
    }
    report.sure = time;
    if (time >= until) {
      return true;
    }
    if (time - reported >= kReportEvery) {
      reported = time;
      report.event = Message::Event::still;
      send(report);
    }
    std::this_thread::sleep_for(std::min(kStep, until - time));
  }
}

std::optional<std::uint64_t> Worker::read_register(const locks::Lock& lock,
                                                   const Message& granted) {
  const auto last = register_of(granted.name).read(lock.token());
  if (last) {
    return *last;
  }
  if (last.error().code != base::ErrorCode::lost) {
    send_failure(granted, last.error());
  }
  return std::nullopt;  // the fence has seen a newer token: another process goes on
}

void Worker::update(const locks::Lock& lock, std::uint64_t read, const Message& granted) {
  Message report = granted;
  report.event = Message::Event::updated;
  report.write = (std::uint64_t{number_} + 1) << 40U | ++writes_;
  const auto written = register_of(granted.name)
                           .write({.write = report.write, .read = read, .token = granted.token});
  if (!written && written.error().code != base::ErrorCode::lost) {
    send_failure(granted, written.error());
    return;
  }
  report.time = now();
  report.acknowledged = written.has_value();
  report.held_afterwards = lock.check().has_value();
  send(report);
}

Register& Worker::register_of(std::uint32_t name) {
  if (const auto found = registers_.find(name); found != registers_.end()) {
    return found->second;
  }
  auto opened = base::value_or_throw(
      Register::open(register_file(settings_, name), settings_.fence ? Fenced::yes : Fenced::no));
  return registers_.emplace(name, std::move(opened)).first->second;
}

void Worker::send(const Message& message) const {
  ssize_t written = -1;
  do {
    written = ::write(reports_, &message, sizeof message);
  } while (written < 0 && errno == EINTR);
  if (written != sizeof message) {
    throw std::system_error(errno, std::generic_category(), "cannot report to the parent");
  }
}

void Worker::send_failure(const Message& about, const base::Error& error) const {
  Message report = about;
  report.event = Message::Event::failed;
  error.message.copy(report.text.data(), report.text.size() - 1);
  send(report);
}

}  // namespace holdfast::cli::torture
