#include <holdfast/engines/open_store.h>

#include <holdfast/base/try.h>
#include <holdfast/engines/internal/registry.h>

namespace holdfast::engines {

const std::vector<EngineInfo>& known_engines() {
  static const std::vector<EngineInfo> kInfos = [] {
    std::vector<EngineInfo> infos;
    for (const internal::Engine& engine : internal::engines()) {
      infos.push_back(engine.info);
    }
    return infos;
  }();
  return kInfos;
}

base::Result<std::shared_ptr<store::LeaseStore>> open_store(std::string_view url,
                                                            const base::Logger& logger) {
  HOLDFAST_TRY_LET(const auto engine, internal::engine_of(url));
  return engine->open_store(engine->info, url, logger);
}

}  // namespace holdfast::engines
