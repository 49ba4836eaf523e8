#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <vector>

#include <pwd.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {

namespace {

std::string user_name() {
  std::vector<char> buffer(4096);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return found->pw_name;
  }
  return "uid" + std::to_string(geteuid());
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> buffer{};
  return gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "localhost";
}

}  // namespace

std::string default_owner() {
  std::string owner = user_name() + "@" + host_name() + ":" + std::to_string(getpid());
  if (owner.size() > store::Claim::kMaxOwner) {
    owner.erase(0, owner.size() - store::Claim::kMaxOwner);  // the end tells more
  }
  return owner;
}

}  // namespace holdfast::locks
