#include <holdfast/engines/open_repository.h>

#include <holdfast/base/try.h>
#include <holdfast/engines/internal/registry.h>

namespace holdfast::engines {

base::Result<std::shared_ptr<store::ObjectRepository>> open_repository(std::string_view url,
                                                                       const base::Logger& logger) {
  HOLDFAST_TRY_LET(const auto engine, internal::engine_of(url));
  return engine->open_repository(engine->info, url, logger);
}

}  // namespace holdfast::engines
