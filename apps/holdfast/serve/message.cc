#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/serve/message.h"

namespace holdfast::cli::serve {

Response failure(int status, std::string_view code, std::string_view message) {
  return {.status = status,
          .body = to_line({{"error", Json{{"code", code}, {"message", message}}}}) + "\n"};
}

}  // namespace holdfast::cli::serve
