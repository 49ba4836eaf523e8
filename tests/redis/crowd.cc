#include <tests/redis/crowd.h>

#include <algorithm>
#include <optional>

#include <tests/support/patience.h>

#include <holdfast/engines/redis/redis_store.h>
#include <holdfast/engines/redis/redis_url.h>

namespace holdfast::tests {

using namespace std::chrono_literals;

Crowd::Crowd(const std::string& url) {
  for (std::size_t i = 0; i < kStores; ++i) {
    providers_.push_back(std::make_unique<locks::LockProvider>(base::value_or_throw(
        engines::redis::open_store(base::value_or_throw(engines::redis::parse_redis_url(url))))));
  }
  for (std::size_t i = 0; i < kWorkers; ++i) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.thread = std::thread([this, i, &worker] { work(*providers_[i % kStores], worker); });
  }
}

void Crowd::work(locks::LockProvider& provider, Worker& worker) {
  for (int round = 0; !is_stopping_; ++round) {
    auto acquired = provider.try_acquire("crowded", {.ttl = kTtl, .wait = 60s});
    if (!acquired || !*acquired) {
      std::this_thread::sleep_for(10ms);
      continue;
    }
    locks::Lock& lock = **acquired;
    Record record{.token = lock.token(), .begin = Clock::now()};
    {
      const std::lock_guard guard(worker.mutex);
      worker.records.push_back(record);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + round % 7));
    record.end = Clock::now();
    const auto released = lock.release();
    record.noticed =
        lock.lost().stop_requested() || !released || *released != store::ReleaseOutcome::released;
    const std::lock_guard guard(worker.mutex);
    worker.records.back() = record;
  }
}

bool Crowd::everybody_had_it_since(Clock::time_point since) const {
  return eventually([&] {
    return std::ranges::all_of(workers_, [&](const auto& worker) {
      const std::lock_guard guard(worker->mutex);
      return !worker->records.empty() && worker->records.back().begin >= since;
    });
  });
}

Crowd::Clock::duration Crowd::longest_pause_since(Clock::time_point since) const {
  Clock::duration longest{};
  for (const auto& worker : workers_) {
    const std::vector<Record>& records = worker->records;
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (records[i].begin >= since) {
        longest = std::max(longest, records[i].begin - records[i - 1].begin);
      }
    }
  }
  return longest;
}

void Crowd::stop() {
  is_stopping_ = true;
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) {
      worker->thread.join();
    }
  }
}

std::vector<std::string> Crowd::finish() {
  stop();
  std::vector<Record> all;
  for (const auto& worker : workers_) {
    all.insert(all.end(), worker->records.begin(), worker->records.end());
  }
  std::ranges::sort(all, {}, &Record::begin);
  std::vector<std::string> wrong;
  std::optional<Record> newest;   // of those that have ended
  std::vector<Record> not_ended;  // when the current one began
  for (const Record& record : all) {
    std::erase_if(not_ended, [&](const Record& other) {
      const bool has_ended = other.end <= record.begin;
      if (has_ended && (!newest || other.token > newest->token)) {
        newest = other;
      }
      return has_ended;
    });
    if (newest && record.token <= newest->token) {
      wrong.push_back("the token " + std::to_string(record.token.value()) + " came after " +
                      std::to_string(newest->token.value()));
    }
    for (const Record& other : not_ended) {
      ++overlaps_;
      if (!(other.token < record.token ? other : record).noticed) {
        wrong.push_back("two held the name, and the one with the token " +
                        std::to_string(std::min(other.token, record.token).value()) +
                        " has not noticed");
      }
    }
    not_ended.push_back(record);
  }
  return wrong;
}

std::size_t Crowd::grants() const {
  std::size_t count = 0;
  for (const auto& worker : workers_) {
    count += worker->records.size();
  }
  return count;
}

}  // namespace holdfast::tests
