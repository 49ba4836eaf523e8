#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/local/report.h"

namespace holdfast::bench {

namespace {

using Json = nlohmann::ordered_json;

void add(Json& json, const Speed& speed) {
  json["ns_per_op"] = speed.nanoseconds();
  json["ops_per_s"] = speed.per_second;
}

void add(Json& json, const Memory& memory) {
  json["structure"] = memory.structure;
  json["bytes_per_key"] = memory.held;
  json["bytes_per_key_after"] = memory.after;
}

void add(Json& json, const Sweep& sweep) {
  json["total_ms"] = sweep.milliseconds;
  if (!sweep.slices) return;
  json["slice_ns_median"] = sweep.slices->quantile(0.5).count();
  json["slice_ns_p99"] = sweep.slices->quantile(0.99).count();
  json["slice_ns_max"] = sweep.slices->longest.count();
}

}  // namespace

void print_json(std::span<const Row> rows) {
  std::string_view separator = "[\n  ";
  for (const Row& row : rows) {
    Json json;
    json["workload"] = row.workload;
    json["threads"] = row.threads;
    json["contender"] = row.contender;
    std::visit([&](const auto& figure) { add(json, figure); }, row.figure);
    fmt::print("{}{}", separator, json.dump());
    separator = ",\n  ";
  }
  fmt::print("\n]\n");
}

}  // namespace holdfast::bench
