#pragma once

#include <memory>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines {

// Opens the repository of objects that a URL names. The URLs are those of open_store(), and one may
// name both: leases and objects then live side by side in one file, database or server, and do not
// meet. Errors as those of open_store().
[[nodiscard]] base::Result<std::shared_ptr<store::ObjectRepository>> open_repository(
    std::string_view url, const base::Logger& logger = {});

}  // namespace holdfast::engines
