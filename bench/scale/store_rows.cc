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

Measured listing(Context& context, std::string_view engine, std::size_t names) {
  const StoreUnderTest store(context, engine);
  for (std::size_t i = 0; i < names; ++i) {
    store.hold(fmt::format("{}{:07}", store.prefix(), i), store::Permits::mutex());
  }
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
  const std::vector<std::size_t> quick{10, 30, 100};
  const auto permit_row = [&](const char* name, const char* about, std::vector<std::size_t> sizes,
                              auto measure) -> Row {
    return {name, about, "holders", "µs", std::move(sizes), quick, measure};
  };
  const auto list_row = [&](const char* name, const char* about, std::vector<std::size_t> sizes,
                            auto measure) -> Row {
    return {name, about, "names", "µs", std::move(sizes), quick, measure};
  };
  return {
      permit_row(
          "permits-memory", "memory: claim and release a permit of a held name",
          {10, 1'000, 10'000},
          [](Context& context, std::size_t size) { return permits(context, "memory", size); }),
      permit_row(
          "permits-sqlite", "SQLite: claim and release a permit of a held name",
          {10, 1'000, 10'000},
          [](Context& context, std::size_t size) { return permits(context, "sqlite", size); }),
      permit_row(
          "permits-redis", "Redis: claim and release a permit of a held name", {10, 1'000, 10'000},
          [](Context& context, std::size_t size) { return permits(context, "redis", size); }),
      list_row("list-memory", "memory: list all names by pages of 1,000, for one name",
               {10'000, 100'000, 1'000'000},
               [](Context& context, std::size_t size) { return listing(context, "memory", size); }),
      list_row("list-sqlite", "SQLite: list all names by pages of 1,000, for one name",
               {10'000, 100'000, 1'000'000},
               [](Context& context, std::size_t size) { return listing(context, "sqlite", size); }),
      list_row("list-redis", "Redis: list all names by pages of 1,000, for one name",
               {10'000, 100'000, 1'000'000},
               [](Context& context, std::size_t size) { return listing(context, "redis", size); })};
}

}  // namespace holdfast::bench_scale
