#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/store/notice.h>

namespace holdfast::engines::postgresql::internal {

// A message of the server to a store (see sql/queue.sql): `hint NAME`, or `grant ID NAME`, with the
// name in hexadecimal.
struct Notification {
  store::Notice notice;
  std::string name;

  // Returns nullopt if it is not one: any client may send to any channel.
  [[nodiscard]] static std::optional<Notification> parse(std::string_view payload);
};

}  // namespace holdfast::engines::postgresql::internal
