#include <holdfast/engines/redis/redis_diagnosis.h>
#include <holdfast/engines/redis/redis_url.h>

#include "apps/holdfast/doctor/redis_checks.h"

namespace holdfast::cli {

namespace {

using engines::redis::Finding;
using Verdict = Check::Verdict;

Verdict verdict_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::good: return Verdict::ok;
    case Finding::Level::warning: return Verdict::warning;
    case Finding::Level::bad: break;
  }
  return Verdict::failed;
}

}  // namespace

Checks check_redis(const std::string& url) {
  const auto options = engines::redis::parse_redis_url(url);
  if (!options) {
    return {{"server", Verdict::failed, options.error().message}};
  }
  const auto findings = engines::redis::diagnose(*options);
  if (!findings) {
    return {{"server", Verdict::unreachable, findings.error().message}};
  }
  Checks checks;
  for (const Finding& finding : *findings) {
    checks.push_back({finding.name, verdict_of(finding.level), finding.detail});
  }
  return checks;
}

}  // namespace holdfast::cli
