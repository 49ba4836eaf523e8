#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include <holdfast/objects/object.h>

namespace holdfast::bench_objects {

// The object that is called: its methods do almost nothing.
class Counter : public objects::Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override { return {{"value", value_.load()}}; }
  void from_data(const nlohmann::json& data) override { value_ = data.at("value").get<long>(); }

  long add(long amount) { return value_.fetch_add(amount, std::memory_order_relaxed) + amount; }
  [[nodiscard]] long value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<long> value_ = 0;
};

// Returns the ids of one thread.
inline std::vector<std::string> ids_of(std::size_t thread, std::size_t count) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back("t" + std::to_string(thread) + ":" + std::to_string(i));
  }
  return ids;
}

}  // namespace holdfast::bench_objects
