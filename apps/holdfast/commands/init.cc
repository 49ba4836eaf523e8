#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli::commands {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr Help kHelp{
    .command = "holdfast init",
    .usage = "[OPTIONS] [STORE]",
    .about =
        "Create the store, if it does not exist, and check that it answers. For a SQLite file, "
        "set\n"
        "the mode, group and user of the file and of the files beside it, so that several users\n"
        "can share it. They also need the right to write to its folder.\n",
    .examples =
        "  install -d -m 2770 -g locks /srv/locks\n"
        "  holdfast init --mode 660 --group locks sqlite:/srv/locks/jobs.db"};

struct InitOptions {
  GlobalOptions global{};
  std::optional<mode_t> mode{};
  uid_t user = static_cast<uid_t>(-1);  // as chown(2): leave it
  gid_t group = static_cast<gid_t>(-1);

  [[nodiscard]] bool changes_files() const noexcept {
    return mode || user != static_cast<uid_t>(-1) || group != static_cast<gid_t>(-1);
  }
};

Reader into_mode(std::optional<mode_t>& target) {
  return [&target](std::string_view text) -> Result<void> {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (error != std::errc() || end != text.data() + text.size() || value > 0777) {
      return fail(ErrorCode::invalid_argument,
                  "'" + base::printable(text) + "' is not a mode from 0 to 777, as in 660");
    }
    target = value;
    return {};
  };
}

Reader into_user(uid_t& target) {
  return [&target](std::string_view text) -> Result<void> {
    const passwd* const user = getpwnam(std::string(text).c_str());
    if (user == nullptr) {
      return fail(ErrorCode::invalid_argument, "there is no user " + base::printable(text));
    }
    target = user->pw_uid;
    return {};
  };
}

Reader into_group(gid_t& target) {
  return [&target](std::string_view text) -> Result<void> {
    const group* const found = getgrnam(std::string(text).c_str());
    if (found == nullptr) {
      return fail(ErrorCode::invalid_argument, "there is no group " + base::printable(text));
    }
    target = found->gr_gid;
    return {};
  };
}

// The suffixes of the files that the engine keeps beside the database.
constexpr std::array kSuffixes = {"", "-wal", "-shm", "-journal", "-wake"};

Result<void> cannot_change(const std::string& file, const std::string& why) {
  return fail(ErrorCode::unavailable,
              fmt::format("cannot change {}: {}", base::printable(file), why));
}

// Changes a file, if it exists. Other users may write to its folder, so that the name could be a
// link to any file: changes only what was looked at.
Result<void> change(const std::string& file, const InitOptions& options) {
  // O_PATH, as to close any other descriptor would drop the locks of SQLite on the file.
  const Descriptor opened(open(file.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat state{};
  if (opened.get() < 0 && errno == ENOENT) {
    return {};
  }
  if (opened.get() < 0 || fstat(opened.get(), &state) != 0) {
    return cannot_change(file, std::generic_category().message(errno));
  }
  if (!S_ISREG(state.st_mode) || state.st_nlink != 1) {
    return cannot_change(file, "it is a link, or not a regular file");
  }
  const std::string same = fmt::format("/proc/self/fd/{}", opened.get());
  if (fchownat(opened.get(), "", options.user, options.group, AT_EMPTY_PATH) != 0 ||
      (options.mode && chmod(same.c_str(), *options.mode) != 0)) {
    return cannot_change(file, std::generic_category().message(errno));
  }
  return {};
}

Result<void> initialise(Session& session, const InitOptions& options) {
  HOLDFAST_TRY(session.open());
  HOLDFAST_TRY(session.store()->look("holdfast/init", answer_deadline()));
  if (!options.changes_files()) {
    return {};
  }
  HOLDFAST_TRY_LET(const auto url, engines::StoreUrl::parse(session.location().url));
  if (url.scheme != "sqlite") {
    return fail(ErrorCode::invalid_argument,
                "--mode, --user and --group are for sqlite: stores: this one is not a file");
  }
  for (const char* const suffix : kSuffixes) {
    HOLDFAST_TRY(change(url.rest + suffix, options));
  }
  return {};
}

}  // namespace

int init(const Invocation& call) {
  InitOptions options{.global = call.global};
  CommandLine line(kHelp);
  line.positional("STORE", "The store, as for --store", into(options.global.store),
                  Presence::optional);
  line.option("--mode", "MODE", "The mode of its files, such as 660", into_mode(options.mode));
  line.option("--user", "USER", "The user that its files belong to", into_user(options.user));
  line.option("--group", "GROUP", "The group that its files belong to", into_group(options.group));
  options.global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(options.global);
  if (const auto done = initialise(session, options); !done) {
    return session.report(done.error());
  }
  const std::string url = engines::without_password(session.location().url);
  if (session.json()) {
    print_line({{"store", url}, {"engine", session.store()->capabilities().engine}});
  } else {
    print_output("{} is ready\n", base::printable_message(url));
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
