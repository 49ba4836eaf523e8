#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "apps/holdfast/torture/crew.h"
#include "apps/holdfast/torture/worker.h"

namespace holdfast::cli::torture {

Crew::Crew(const Settings& settings, Recorder& recorder)
    : settings_(settings), recorder_(recorder), places_(settings.workers) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
  fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);  // of this end alone: workers wait for room
}

void Crew::start(base::TimePoint until) {
  until_ = until;
  for (Place& place : places_) {
    start_worker(place);
  }
}

void Crew::start_worker(Place& place) {
  place.number = started_++;
  place.has_ended = false;
  place.process = std::make_unique<Fork>(
      [this, number = place.number] {
        return Worker(settings_, number, write_end_.get()).work(until_);
      },
      write_end_.get());
}

void Crew::pause(std::size_t place) { places_[place].process->signal(SIGSTOP); }

void Crew::resume(std::size_t place) { places_[place].process->signal(SIGCONT); }

void Crew::kill(std::size_t place) {
  places_[place].process->kill();
  end_worker(places_[place]);
}

void Crew::replace(std::size_t place) {
  if (base::boot_clock().now() < until_) {
    start_worker(places_[place]);
  }
}

void Crew::read_reports() {
  Message message;
  while (read(read_end_.get(), &message, sizeof message) == sizeof message) {
    recorder_.take(message);
  }
}

// It cannot report any more, so all that it has reported can be read now.
void Crew::end_worker(Place& place) {
  place.has_ended = true;
  read_reports();
  recorder_.worker_ended(place.number, base::boot_clock().now());
}

bool Crew::any_runs() {
  bool any = false;
  for (Place& place : places_) {
    if (place.has_ended) {
      continue;
    }
    const auto status = place.process->status();
    if (!status) {
      any = true;
      continue;
    }
    end_worker(place);
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
      crashes_.push_back("worker " + std::to_string(place.number) + " ended with " +
                         (WIFSIGNALED(*status) ? "signal " + std::to_string(WTERMSIG(*status))
                                               : std::to_string(WEXITSTATUS(*status))));
    }
  }
  return any;
}

std::size_t Crew::kill_all() {
  std::size_t killed = 0;
  for (Place& place : places_) {
    if (!place.has_ended) {
      place.process->kill();
      end_worker(place);
      ++killed;
    }
  }
  return killed;
}

}  // namespace holdfast::cli::torture
