#include <holdfast/store/finding.h>

#include <holdfast/base/duration_text.h>

namespace holdfast::store {

Finding judge_clock(base::Duration ahead) {
  const std::string text = base::short_duration(std::chrono::abs(ahead)) +
                           (ahead.count() < 0 ? " behind" : " ahead of") + " ours";
  if (std::chrono::abs(ahead) < std::chrono::seconds(10)) {
    return {"clock_offset", Finding::Level::good, text};
  }
  return {"clock_offset", Finding::Level::warning,
          text +
              ": leases last as long as they should, but tokens follow the server's clock; if it "
              "is set back after its data were lost, they may repeat"};
}

}  // namespace holdfast::store
