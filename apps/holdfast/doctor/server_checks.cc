#include <holdfast/engines/mongodb/mongo_diagnosis.h>
#include <holdfast/engines/mongodb/mongo_url.h>
#include <holdfast/engines/postgresql/postgres_diagnosis.h>
#include <holdfast/engines/postgresql/postgres_url.h>
#include <holdfast/engines/redis/redis_diagnosis.h>
#include <holdfast/engines/redis/redis_url.h>

#include "apps/holdfast/doctor/server_checks.h"

namespace holdfast::cli {

namespace {

using store::Finding;
using Verdict = Check::Verdict;

Verdict verdict_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::good: return Verdict::ok;
    case Finding::Level::warning: return Verdict::warning;
    case Finding::Level::bad: break;
  }
  return Verdict::failed;
}

// With the diagnosis of the engine that the options are of.
template <class Options>
Checks check(const base::Result<Options>& options) {
  if (!options) {
    return {{"server", Verdict::failed, options.error().message}};
  }
  const auto findings = diagnose(*options);
  if (!findings) {
    return {{"server", Verdict::unreachable, findings.error().message}};
  }
  Checks checks;
  for (const Finding& finding : *findings) {
    if (finding.name != "clock_offset") {  // check_round_trip() has it, of every engine
      checks.push_back({finding.name, verdict_of(finding.level), finding.detail});
    }
  }
  return checks;
}

}  // namespace

Checks check_mongodb(const std::string& url) {
  return check(engines::mongodb::parse_mongo_url(url));
}

Checks check_postgresql(const std::string& url) {
  return check(engines::postgresql::parse_postgres_url(url));
}

Checks check_redis(const std::string& url) { return check(engines::redis::parse_redis_url(url)); }

}  // namespace holdfast::cli
