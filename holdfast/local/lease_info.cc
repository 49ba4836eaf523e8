#include <holdfast/local/lease_info.h>

#include <ostream>

#include <holdfast/base/record_text.h>

namespace holdfast::local {

std::string to_string(const LeaseInfo& info) {
  return base::RecordText("LeaseInfo")
      .quoted("key", info.key)
      .quoted("owner", info.owner)
      .plain("token", to_string(info.token))
      .time("time_left", info.time_left)
      .str();
}

std::ostream& operator<<(std::ostream& out, const LeaseInfo& info) {
  return out << to_string(info);
}

std::chrono::nanoseconds SweepReport::slice_quantile(double share) const noexcept {
  const double wanted = share * static_cast<double>(slices);
  std::size_t seen = 0;
  for (std::size_t i = 0; i + 1 < slice_times.size(); ++i) {
    seen += slice_times[i];
    if (static_cast<double>(seen) >= wanted) {
      return kStep * (i + 1);
    }
  }
  return longest_slice;
}

}  // namespace holdfast::local
