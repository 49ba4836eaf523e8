#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apps/holdfast/torture/descendants.h"

namespace holdfast::cli::torture {

namespace {

std::optional<pid_t> to_id(std::string_view text) {
  pid_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(id)
                                                                  : std::nullopt;
}

// Returns nullopt if it has ended. /proc/PID/stat is: id, name in parentheses, state, parent, …;
// a name may have parentheses of its own.
std::optional<pid_t> parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || text.size() < name_end + 4) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(text).substr(name_end + 4);
  return to_id(rest.substr(0, rest.find(' ')));
}

std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto id = to_id(entry.path().filename().native());
    const auto parent = id ? parent_of(*id) : std::nullopt;
    if (parent) {
      children.emplace(*parent, *id);
    }
  }
  return children;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t process) {
  const auto children = children_of_all();
  std::vector<pid_t> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
    }
  };
  add_children_of(process);
  for (std::size_t i = 0; i < found.size(); ++i) {
    add_children_of(found[i]);
  }
  return found;
}

}  // namespace holdfast::cli::torture
