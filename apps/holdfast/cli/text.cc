#include <algorithm>
#include <cctype>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/store/claim.h>

#include "apps/holdfast/cli/console.h"
#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

namespace {

using std::chrono::system_clock;

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += cells[i];
    if (i + 1 < cells.size()) {
      text.append(widths[i] - width(cells[i]) + 2, ' ');
    }
  }
  return text;
}

std::string time_text(const char* format, const std::tm& time, system_clock::time_point now) {
  const auto fraction = now.time_since_epoch() % std::chrono::seconds(1);
  return fmt::format(fmt::runtime(format), time,
                     std::chrono::duration_cast<std::chrono::milliseconds>(fraction).count());
}

std::string label(std::string_view owner, std::string_view reason) {
  const std::string text = owner_text(owner);
  return reason.empty() ? text : text + " \"" + base::printable(reason) + "\"";
}

}  // namespace

std::size_t width(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string cut(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) {
    return std::string(text);
  }
  std::size_t end = 0;
  std::size_t taken = 0;
  while (end < text.size() && (!starts_character(text[end]) || ++taken < columns)) {
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string rough(base::Duration value) {
  using std::chrono::seconds;
  const bool in_seconds = value >= seconds(1);
  return base::short_duration(in_seconds ? std::chrono::floor<seconds>(value)
                                         : std::chrono::floor<std::chrono::milliseconds>(value));
}

std::string owner_text(std::string_view owner) {
  const std::size_t colon = owner.rfind(':');
  const std::string_view pid =
      colon == std::string_view::npos ? std::string_view() : owner.substr(colon + 1);
  const bool has_pid = !pid.empty() && std::ranges::all_of(pid, [](unsigned char byte) {
    return std::isdigit(byte) != 0;
  });
  if (!has_pid) {
    return base::printable(owner);
  }
  return base::printable(owner.substr(0, colon)) + " (pid " + std::string(pid) + ")";
}

std::string holder_label(const store::Holder& holder) {
  return holder.foreign ? "another program (" + base::printable(holder.owner) + ")"
                        : label(holder.owner, holder.reason);
}

std::string holder_text(const store::Holder& holder) {
  return holder_label(holder) + (holder.foreign ? "" : " for " + rough(holder.held_for));
}

std::string waiter_text(const locks::Waiter& waiter) {
  return label(waiter.owner, waiter.reason) + " for " + rough(waiter.waited);
}

std::string local_time(system_clock::time_point time) {
  return time_text("{:%H:%M:%S}.{:03}", fmt::localtime(system_clock::to_time_t(time)), time);
}

std::string utc_time(system_clock::time_point time) {
  return time_text("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(time), time);
}

std::string permits_text(std::uint32_t count, std::uint32_t capacity) {
  if (capacity == store::Permits::kAll) {
    if (count == 1) {
      return "shared";
    }
    return count == capacity ? "exclusive" : fmt::format("{} shared", count);
  }
  return capacity == 1 ? "mutex" : fmt::format("{} of {}", count, capacity);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string cells = line(rows[i], widths);
    text += (i == 0 ? paint(Colour::bold, cells) : cells) + "\n";
  }
  return text;
}

}  // namespace holdfast::cli
