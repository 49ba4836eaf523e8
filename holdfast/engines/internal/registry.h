#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/engines/open_store.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/object_repository.h>

// The engines of this build, and how each is opened. Thread-safe: constant.
namespace holdfast::engines::internal {

using StorePtr = std::shared_ptr<store::LeaseStore>;
using RepositoryPtr = std::shared_ptr<store::ObjectRepository>;

struct Engine {
  EngineInfo info;
  base::Result<StorePtr> (*open_store)(const EngineInfo& engine, std::string_view url,
                                       const base::Logger& logger);
  base::Result<RepositoryPtr> (*open_repository)(const EngineInfo& engine, std::string_view url,
                                                 const base::Logger& logger);
};

[[nodiscard]] const std::vector<Engine>& engines();

// The one that a URL names; else ErrorCode::invalid_argument, with a message that names all.
[[nodiscard]] base::Result<const Engine*> engine_of(std::string_view url);

}  // namespace holdfast::engines::internal
