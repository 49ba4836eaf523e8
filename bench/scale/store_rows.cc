#include <algorithm>
#include <chrono>
#include <future>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/scale/row.h"
#include "bench/scale/store_under_test.h"

namespace holdfast::bench_scale {

namespace {

Measured permits(Context& context, std::string_view engine, std::size_t holders) {
  const StoreUnderTest store(context, engine);
  const std::string name = store.prefix() + "pool";
  const auto all = store::Permits::of(1, static_cast<std::uint32_t>(holders + 1));
  for (std::size_t i = 0; i < holders; ++i) store.hold(name, all);
  const double seconds = bench_locks::time_per_call(
      context.time(), [&] { base::value_or_throw(store->release(name, store.hold(name, all))); });
  return {.value = seconds * 1e6};
}

// Leases on names that were held all at once.
struct Held {
  std::vector<std::string> names;
  std::vector<base::LeaseId> ids;
};

// Holds so many names. Several threads are quicker where a connection serves several callers.
Held hold_all(const StoreUnderTest& store, std::string_view engine, std::size_t count) {
  const std::size_t threads = engine == "redis" || engine == "postgresql" ? 8 : 1;
  Held held;
  for (std::size_t i = 0; i < count; ++i) {
    held.names.push_back(fmt::format("{}{:07}", store.prefix(), i));
  }
  held.ids.resize(count);
  std::vector<std::future<void>> holders;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    holders.push_back(std::async(std::launch::async, [&store, &held, threads, thread] {
      for (std::size_t i = thread; i < held.names.size(); i += threads) {
        held.ids[i] = store.hold(held.names[i], store::Permits::mutex());
      }
    }));
  }
  for (auto& holder : holders) holder.get();
  return held;
}

// Renews the leases of one process, in requests as large as the keeper's.
Measured renewals(Context& context, std::string_view engine, std::size_t count) {
  constexpr std::size_t kBatch = 4096;
  const StoreUnderTest store(context, engine);
  const Held held = hold_all(store, engine, count);
  std::vector<store::Renewal> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({.name = held.names[i], .id = held.ids[i], .ttl = std::chrono::hours(2)});
  }
  double renewed = 0;
  double requests = 0;
  std::size_t next = 0;
  const double seconds = bench_locks::time_per_call(context.time(), [&] {
    const std::size_t size = std::min(kBatch, all.size() - next);
    const auto outcomes = base::value_or_throw(store->renew(std::span(all).subspan(next, size)));
    if (std::ranges::count(outcomes, store::RenewOutcome::renewed) != std::ssize(outcomes)) {
      throw std::runtime_error("a lease was not renewed");
    }
    next = next + size < all.size() ? next + size : 0;
    renewed += static_cast<double>(size);
    ++requests;
  });
  return {.value = seconds * requests / renewed * 1e6};
}

Measured listing(Context& context, std::string_view engine, std::size_t names) {
  const StoreUnderTest store(context, engine);
  hold_all(store, engine, names);
  const Seconds before = bench_locks::cpu_time();
  double listings = 0;
  const double seconds = bench_locks::time_per_call(context.time(), [&] {
    ++listings;
    std::size_t listed = 0;
    store::PageRequest request{.limit = 1000};
    do {
      const auto page = base::value_or_throw(store->list(store.prefix(), request));
      listed += page.names.size();
      request.after = page.next;
    } while (!request.after.empty());
    if (listed != names) throw std::runtime_error("a name was not listed");
  });
  const double each = 1e6 / static_cast<double>(names);
  const double cpu = (bench_locks::cpu_time() - before).count() / listings;
  return {.value = seconds * each,
          .note = fmt::format("{:.2f} of processor time in this process", cpu * each)};
}

}  // namespace

std::vector<Row> store_rows() {
  const auto permit_row = [](const char* name, const char* about, auto measure) -> Row {
    return {name, about, "holders", "µs", {10, 1'000, 10'000}, {10, 30, 100}, measure};
  };
  const auto list_row = [](const char* name, const char* about, std::vector<std::size_t> sizes,
                           auto measure) -> Row {
    return {name, about, "names", "µs", std::move(sizes), {10, 30, 100}, measure};
  };
  const auto renewal_row = [](const char* name, const char* about, auto measure) -> Row {
    return {name, about, "leases", "µs", {1'000, 10'000, 100'000}, {10, 30, 100}, measure};
  };
  const std::vector<std::size_t> to_a_million{10'000, 100'000, 1'000'000};
  return {
      permit_row("permits-memory", "memory: claim and release a permit of a held name",
                 [](Context& context, std::size_t n) { return permits(context, "memory", n); }),
      permit_row("permits-sqlite", "SQLite: claim and release a permit of a held name",
                 [](Context& context, std::size_t n) { return permits(context, "sqlite", n); }),
      permit_row("permits-redis", "Redis: claim and release a permit of a held name",
                 [](Context& context, std::size_t n) { return permits(context, "redis", n); }),
      permit_row("permits-postgresql", "PostgreSQL: claim and release a permit of a held name",
                 [](Context& context, std::size_t n) { return permits(context, "postgresql", n); }),
      renewal_row("renewals-memory", "memory: renew all leases of a process, for one lease",
                  [](Context& context, std::size_t n) { return renewals(context, "memory", n); }),
      renewal_row("renewals-sqlite", "SQLite: renew all leases of a process, for one lease",
                  [](Context& context, std::size_t n) { return renewals(context, "sqlite", n); }),
      renewal_row("renewals-redis", "Redis: renew all leases of a process, for one lease",
                  [](Context& context, std::size_t n) { return renewals(context, "redis", n); }),
      renewal_row(
          "renewals-postgresql", "PostgreSQL: renew all leases of a process, for one lease",
          [](Context& context, std::size_t n) { return renewals(context, "postgresql", n); }),
      list_row("list-memory", "memory: list all names by pages of 1,000, for one name",
               to_a_million,
               [](Context& context, std::size_t n) { return listing(context, "memory", n); }),
      list_row("list-sqlite", "SQLite: list all names by pages of 1,000, for one name",
               to_a_million,
               [](Context& context, std::size_t n) { return listing(context, "sqlite", n); }),
      list_row("list-redis", "Redis: list all names by pages of 1,000, for one name", to_a_million,
               [](Context& context, std::size_t n) { return listing(context, "redis", n); }),
      list_row("list-postgresql", "PostgreSQL: list all names by pages of 1,000, for one name",
               {1'000, 10'000, 100'000},
               [](Context& context, std::size_t n) { return listing(context, "postgresql", n); })};
}

}  // namespace holdfast::bench_scale
