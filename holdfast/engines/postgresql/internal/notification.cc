#include <holdfast/engines/postgresql/internal/notification.h>

#include <charconv>

namespace holdfast::engines::postgresql::internal {

namespace {

std::optional<std::string> bytes_of(std::string_view hexadecimal) {
  std::string bytes;
  if (hexadecimal.empty() || hexadecimal.size() % 2 != 0) {
    return std::nullopt;
  }
  for (; !hexadecimal.empty(); hexadecimal.remove_prefix(2)) {
    unsigned char byte = 0;
    const auto parsed = std::from_chars(hexadecimal.data(), hexadecimal.data() + 2, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != hexadecimal.data() + 2) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

}  // namespace

std::optional<Notification> Notification::parse(std::string_view payload) {
  constexpr std::string_view kHint = "hint ";
  constexpr std::string_view kGrant = "grant ";
  Notification notification;
  if (payload.starts_with(kHint)) {
    payload.remove_prefix(kHint.size());
  } else if (payload.starts_with(kGrant) &&
             payload.size() > kGrant.size() + base::LeaseId::kTextSize) {
    const auto id = base::LeaseId::parse(payload.substr(kGrant.size(), base::LeaseId::kTextSize));
    if (!id || payload[kGrant.size() + base::LeaseId::kTextSize] != ' ') {
      return std::nullopt;
    }
    notification.notice.granted = *id;
    payload.remove_prefix(kGrant.size() + base::LeaseId::kTextSize + 1);
  } else {
    return std::nullopt;
  }
  auto name = bytes_of(payload);
  if (!name) {
    return std::nullopt;
  }
  notification.name = *std::move(name);
  return notification;
}

}  // namespace holdfast::engines::postgresql::internal
