#include <holdfast/engines/mongodb/internal/index_maker.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <system_error>

#include <holdfast/engines/mongodb/internal/server_codes.h>

namespace holdfast::engines::mongodb::internal {

namespace {

// A program that lives for a moment should leave an index behind, too.
constexpr base::Duration kGrace = std::chrono::milliseconds(500);
constexpr base::Duration kLook = std::chrono::milliseconds(1);

}  // namespace

Bson create_ttl_index(std::string_view collection, const std::string& field,
                      base::Duration retention) {
  const auto seconds =
      std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(retention).count(), 1,
                               std::numeric_limits<std::int32_t>::max());
  Bson key;
  key.add(field, 1);
  Bson index;
  index.add("key", key)
      .add("name", field + "_ttl")
      .add("expireAfterSeconds", static_cast<std::int32_t>(seconds));
  Bson indexes;
  indexes.push(index);
  Bson command;
  command.add("createIndexes", collection).add_array("indexes", indexes);
  return command;
}

IndexMaker::~IndexMaker() {
  if (!thread_.joinable()) {
    return;
  }
  if (!link_.check_process()) {
    thread_.detach();  // it does not exist in this process
    return;
  }
  const auto until = base::Deadline::after(base::steady_clock(), kGrace);
  while (!done_.try_wait() && !until.expired(base::steady_clock().now())) {
    std::this_thread::sleep_for(kLook);
  }
  stopping_ = true;
  thread_.join();
}

void IndexMaker::start() {
  std::call_once(started_, [this] {
    try {
      thread_ = std::thread([this] {
        run();
        done_.count_down();
      });
    } catch (const std::system_error& error) {
      link_.options().logger.warn(std::string("there is no thread for the TTL index: ") +
                                  error.what());
    }
  });
}

void IndexMaker::run() {
  const base::Logger& logger = link_.options().logger;
  const auto client = Client::make(link_.address(), &stopping_);
  if (!client) {
    logger.warn("the TTL index could not be made: " + client.error().message);
    return;
  }
  const auto made = (*client)->write(
      create_index_, base::Deadline::after(base::steady_clock(), link_.options().reply_timeout));
  if (made || stopping_) {
    return;
  }
  if (made.error().code == kIndexOptionsConflict || made.error().code == kIndexKeySpecsConflict) {
    logger.info("the collection has another TTL index: idle names are forgotten by that one (" +
                made.error().message + ")");
    return;
  }
  logger.warn("the TTL index could not be made, and idle names are not forgotten: " +
              made.error().message);
}

}  // namespace holdfast::engines::mongodb::internal
