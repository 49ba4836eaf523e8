#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/outcome.h>

// Text for people.
namespace holdfast::cli {

// Returns how many columns valid UTF-8 takes, if each character takes one.
[[nodiscard]] std::size_t width(std::string_view text) noexcept;
// At most so many columns of it, the last of them "…" if something is missing.
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);

// Whole seconds from a second upwards: "3m 20s", "8s", "250ms".
[[nodiscard]] std::string rough(base::Duration value);

// `ci@host:41` as "ci@host (pid 41)"; other owners as they are. Safe to print.
[[nodiscard]] std::string owner_text(std::string_view owner);
// "ci@host (pid 41) "deploy 812""
[[nodiscard]] std::string holder_label(const store::Holder& holder);
// The same and how long: "ci@host (pid 41) "deploy 812" for 3m"
[[nodiscard]] std::string holder_text(const store::Holder& holder);
// The same of a waiter: "ci@host (pid 41) "deploy 812" for 12s"
[[nodiscard]] std::string waiter_text(const locks::Waiter& waiter);
// "mutex", "2 of 5", "shared", "exclusive"
[[nodiscard]] std::string permits_text(std::uint32_t count, std::uint32_t capacity);

// Return the time to the millisecond: "14:03:07.120" here, "2026-01-31T13:03:07.120Z" in UTC.
[[nodiscard]] std::string local_time(std::chrono::system_clock::time_point time);
[[nodiscard]] std::string utc_time(std::chrono::system_clock::time_point time);

// Rows of cells as lines whose columns are aligned, two spaces apart; the first row is a heading.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace holdfast::cli
