#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/local/measure.h"
#include "bench/local/row.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

// A contender in one workload. Its state is kept from round to round.
struct Lane {
  std::string_view contender;
  std::move_only_function<Timing()> run;
};

// Lets the lanes take turns for all rounds; returns a row with the median of each.
Rows alternate(const Workload& workload, const Context& context, std::size_t threads,
               std::vector<Lane> lanes);

double median(std::vector<double> values);

// `make_step(contender, thread)` returns a function that does the thread's operation number i. A
// contender's `verify(Timing)`, if it has one, is called after each of its turns.
template <class Contender, class MakeStep>
Lane make_lane(std::unique_ptr<Contender> contender, std::size_t threads, Seconds time,
               const MakeStep& make_step) {
  return {Contender::kName, [=, contender = std::move(contender)] {
            const Timing timing = run_timed(
                threads, time, [&](std::size_t thread) { return make_step(*contender, thread); });
            if constexpr (requires { contender->verify(timing); }) contender->verify(timing);
            return timing;
          }};
}

// Runs the same step for every contender, in turns, after `prepare(contender)`.
template <class... Contenders, class MakeStep, class Prepare>
Rows alternate_all(const Workload& workload, const Context& context, std::size_t threads,
                   const MakeStep& make_step, const Prepare& prepare) {
  std::vector<Lane> lanes;
  const auto add = [&](auto contender) {
    prepare(*contender);
    lanes.push_back(make_lane(std::move(contender), threads, context.options.seconds, make_step));
  };
  (add(std::make_unique<Contenders>()), ...);
  return alternate(workload, context, threads, std::move(lanes));
}

template <class... Contenders, class MakeStep>
Rows alternate_all(const Workload& workload, const Context& context, std::size_t threads,
                   const MakeStep& make_step) {
  return alternate_all<Contenders...>(workload, context, threads, make_step, [](auto&) {});
}

// Returns the rows of `run(threads)` for each number of threads.
template <std::invocable<std::size_t> Run>
Rows for_threads(std::initializer_list<std::size_t> counts, const Run& run) {
  Rows all;
  for (const std::size_t threads : counts) {
    const Rows rows = run(threads);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace holdfast::bench
