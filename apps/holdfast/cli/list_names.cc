#include <iterator>
#include <utility>

#include <holdfast/base/try.h>

#include "apps/holdfast/cli/list_names.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

base::Result<std::vector<store::NameState>> list_names(store::LeaseStore& store,
                                                       std::string_view prefix) {
  std::vector<store::NameState> names;
  store::PageRequest request{.limit = 1000, .after = {}};
  for (;;) {
    HOLDFAST_TRY_LET(auto page, store.list(prefix, request, answer_deadline()));
    std::ranges::move(page.names, std::back_inserter(names));
    if (page.next.empty()) {
      return names;
    }
    request.after = std::move(page.next);
  }
}

}  // namespace holdfast::cli
