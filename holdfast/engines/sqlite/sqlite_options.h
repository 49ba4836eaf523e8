#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>

namespace holdfast::engines::sqlite {

// The machine as a store sees it; tests make their own. All stores on one file must see the same.
struct Machine {
  // Judges the leases: counts suspend, and starts anew with every boot. Outlives the store.
  const base::Clock* clock = &base::boot_clock();
  // The time by which the clock is ahead of the machine's. A time namespace moves the boot clock of
  // the processes in it; for base::boot_clock() a store finds this out itself.
  base::Duration clock_ahead{};
  // Tells one boot from another; empty: the kernel's.
  std::string boot_id{};
  // Only tokens come from it, and they do not mind if it is wrong or is set back.
  std::function<std::chrono::system_clock::time_point()> wall_clock = [] {
    return std::chrono::system_clock::now();
  };

  // Returns the time by which leases are judged: the same in every process of the machine.
  [[nodiscard]] base::TimePoint now() const noexcept { return clock->now() - clock_ahead; }
};

struct SqliteOptions {
  // Made if it does not exist; its folder must exist. Processes of several users can share it if
  // all may write to it, to the folder, and to the files `-wal`, `-shm` and `-wake` beside it,
  // which get the permissions of the file. A user that may only read them gets a store that only
  // reads.
  std::filesystem::path file;
  // The mode of a file that is made, such as 0660, whatever the umask; made by root, it has the
  // group of its folder. Without one: 0644, less the umask.
  std::optional<std::uint32_t> mode{};
  base::Logger logger{};
  // The longest wait of a call without a deadline, and of the opening, for other processes.
  // Positive.
  base::Duration busy_timeout = std::chrono::seconds(5);
  // The time for which a name that is not in use keeps its row. Tokens do not depend on it (see
  // SqliteStore): it only saves names that are used again and again from being removed and added
  // again. Of a repository: the time for which the token of an erased object is remembered.
  base::Duration retention = std::chrono::hours(1);
  Machine machine{};
};

}  // namespace holdfast::engines::sqlite
