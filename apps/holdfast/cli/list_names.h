#pragma once

#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::cli {

// All pages of LeaseStore::list.
[[nodiscard]] base::Result<std::vector<store::NameState>> list_names(store::LeaseStore& store,
                                                                     std::string_view prefix);

}  // namespace holdfast::cli
