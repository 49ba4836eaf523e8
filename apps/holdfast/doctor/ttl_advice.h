#pragma once

#include <vector>

#include <holdfast/base/clock.h>

namespace holdfast::cli {

// The times that a store took to answer, over a number of requests.
struct Latency {
  base::Duration median;
  base::Duration longest;
};

[[nodiscard]] Latency latency_of(std::vector<base::Duration> samples);

// A time to live that suits a store.
struct TtlAdvice {
  base::Duration ttl;
  // The expected number of locks lost in a year although nothing is wrong, for one lock that is
  // held all the time.
  double false_losses_a_year;
};

// Recommends the shortest of some usual times for which a false loss is expected less than once in
// a million years: a lock is lost if no answer comes for two thirds of its ttl. Assumes that the
// time of an answer has an exponential tail, as long as the longest sample suggests, so it does not
// know of outages and of stops of this process. No I/O, no clock.
[[nodiscard]] TtlAdvice advise_ttl(const Latency& latency, std::size_t samples);

}  // namespace holdfast::cli
