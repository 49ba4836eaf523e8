#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_repository.h>
#include <holdfast/objects/object_host.h>

#include "bench/objects/counter.h"
#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

using bench_objects::Counter;

// A host in which all these objects are active.
struct Population {
  explicit Population(std::size_t size, const std::string& url = "memory:")
      : ids(bench_objects::ids_of(0, size)),
        host(base::value_or_throw(engines::open_repository(url)), quiet(size)) {
    host.register_type<Counter>("counter");
    for (const std::string& id : ids) base::value_or_throw(host.call<&Counter::add>(id, 1));
  }
  static objects::HostOptions quiet(std::size_t size) {
    objects::HostOptions options;
    options.save_every.reset();
    options.max_objects = size;
    return options;
  }

  std::vector<std::string> ids;
  objects::ObjectHost host;
};

Measured call(Context& context, std::size_t size) {
  Population all(size);
  std::mt19937_64 random(1);  // the same objects in every run
  // Chosen beforehand, because a call is as short as choosing; copied, because a caller has just
  // received its id.
  std::vector<std::string> order(std::size_t{1} << 20U);
  for (std::string& id : order) id = all.ids[random() % size];
  const std::size_t calls = context.quick() ? 1000 : order.size();
  const Seconds before = bench_locks::cpu_time();
  for (std::size_t i = 0; i < calls; ++i) {
    base::value_or_throw(all.host.call<&Counter::value>(order[i]));
  }
  return {.value = (bench_locks::cpu_time() - before).count() * 1e9 / static_cast<double>(calls)};
}

Measured list_ids(Context& /*context*/, std::size_t size) {
  const Population all(size);
  const Seconds before = bench_locks::cpu_time();
  std::size_t seen = 0;
  std::string after;
  do {
    const auto page = base::value_or_throw(all.host.ids("counter", {}, 1000, after));
    seen += page.ids.size();
    after = page.next;
  } while (!after.empty());
  return {.value = (bench_locks::cpu_time() - before).count() * 1e6 / static_cast<double>(size),
          .note = std::to_string(seen) + " listed"};
}

Measured save_all(std::size_t size, const std::string& url) {
  Population all(size, url);
  const Seconds before = bench_locks::cpu_time();
  const std::size_t saved = base::value_or_throw(all.host.save_all());
  const Seconds spent = bench_locks::cpu_time() - before;
  return {.value = spent.count() * 1e6 / static_cast<double>(size),
          .note = std::to_string(saved) + " saved"};
}

Measured save_to_memory(Context& /*context*/, std::size_t size) {
  return save_all(size, "memory:");
}

Measured save_to_sqlite(Context& /*context*/, std::size_t size) {
  const tests::TemporaryFolder folder;
  return save_all(size, "sqlite:" + (folder / "objects.db").string());
}

Row row_of(const char* name, const char* about, const char* unit,
           Measured (*measure)(Context& context, std::size_t size)) {
  return {.name = name,
          .about = about,
          .size = "objects",
          .unit = unit,
          .sizes = {1'000, 10'000, 100'000, 1'000'000},
          .quick_sizes = {10, 100, 1'000},
          .measure = measure};
}

}  // namespace

std::vector<Row> object_rows() {
  return {
      row_of("object-call", "a call of a random one of the active objects", "ns of processor time",
             call),
      row_of("object-ids", "a listing of all ids in pages of 1,000, for one of them",
             "µs of processor time", list_ids),
      row_of("object-save", "the first save_all to memory, of all objects, for one of them",
             "µs of processor time", save_to_memory),
      row_of("object-save-sqlite", "the first save_all to SQLite, of all objects, for one of them",
             "µs of processor time", save_to_sqlite)};
}

}  // namespace holdfast::bench_scale
