#pragma once

#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/internal/id_space.h>
#include <holdfast/engines/mongodb/internal/link.h>
#include <holdfast/engines/mongodb/internal/requests.h>
#include <holdfast/store/outcome.h>

namespace holdfast::engines::mongodb::internal {

// One page of the names that begin with `prefix` and are held, in byte order. Names that are kept
// as they are and names that are kept in hexadecimal are two ranges of _ids, each in order, and are
// merged here.
[[nodiscard]] base::Result<store::Page> list_names(Link& link, const Requests& requests,
                                                   const IdSpace& ids, std::string_view prefix,
                                                   const store::PageRequest& request,
                                                   base::Deadline deadline);

}  // namespace holdfast::engines::mongodb::internal
