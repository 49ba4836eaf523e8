#include <holdfast/base/name.h>

#include <holdfast/base/printable.h>

namespace holdfast::base {

Result<Name> Name::make(std::string_view bytes) {
  if (bytes.empty()) {
    return fail(ErrorCode::invalid_argument, "the name is empty: pass 1 to 1024 bytes");
  }
  if (bytes.size() > kMaxSize) {
    return fail(ErrorCode::invalid_argument, "the name has " + std::to_string(bytes.size()) +
                                                 " bytes: pass at most 1024, or a hash of it");
  }
  return Name{bytes};
}

std::string Name::printable() const { return base::printable(bytes_); }

}  // namespace holdfast::base
