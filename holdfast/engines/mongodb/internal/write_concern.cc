#include <holdfast/engines/mongodb/internal/write_concern.h>

#include <charconv>
#include <chrono>

namespace holdfast::engines::mongodb::internal {

WriteConcern::WriteConcern(const MongoOptions& options)
    : mode_(options.write_concern),
      // The server says that it waits in vain before we take it for dead.
      timeout_(
          std::chrono::ceil<std::chrono::milliseconds>(options.reply_timeout * 3 / 4).count()) {}

void WriteConcern::add_to(Bson& command) const {
  Bson concern;
  std::int32_t number = 0;
  const char* const end = mode_.data() + mode_.size();
  if (std::from_chars(mode_.data(), end, number).ptr == end) {
    concern.add("w", number);
  } else {
    concern.add("w", mode_);
  }
  concern.add("wtimeout", timeout_);
  command.add("writeConcern", concern);
}

}  // namespace holdfast::engines::mongodb::internal
