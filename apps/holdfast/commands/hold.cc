#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/child/keeper.h"
#include "apps/holdfast/child/story.h"
#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/outer_leases.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/acquire_patiently.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast hold",
    .usage = "[OPTIONS] NAME",
    .about =
        "Acquire NAME for the calling shell, and print variables for it: HOLDFAST_NAME,\n"
        "HOLDFAST_LEASE, HOLDFAST_TOKEN and others. A process in the background renews the lease\n"
        "until the shell ends or calls 'holdfast release'. If the lease is lost, the shell gets\n"
        "TERM. If NAME cannot be acquired, the printed text sets the exit status.\n",
    .examples =
        "  eval \"$(holdfast hold deploy)\" || exit     the rest of the script holds deploy\n"
        "  holdfast release                            earlier than at its end\n"
        "  eval \"$(holdfast hold --for $$ db || true)\" from a subshell: say which process"};

struct HoldOptions {
  GlobalOptions global{};
  ClaimOptions claim{};
  std::uint64_t shell = 0;  // 0: the caller
  pid_t caller = getppid();
  bool ignore_loss = false;
  std::string name{};
};

// Two ends of a connection between the process that was called and the keeper.
struct Connection {
  Descriptor here;
  Descriptor there;
};

Connection connect() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Returns the text as one word for a POSIX shell.
std::string shell_word(std::string_view text) {
  std::string all = "'";
  for (const char byte : text) {
    all += byte == '\'' ? "'\\''" : std::string(1, byte);
  }
  return all + "'";
}

// Returns the text for a shell that looks first whether the caller lives: that may have been a
// subshell, with which the lock has gone.
std::string if_lives(pid_t caller, const std::string& text) {
  return fmt::format(
      "if kill -0 {0} 2>/dev/null; then\n{1}else\n"
      "echo 'holdfast: process {0}, which called hold, has ended: use hold --for $$' >&2\n"
      "(exit {2})\nfi\n",
      caller, text, kUsage);
}

std::string for_shell(const Session& session, const locks::Lock& lock) {
  const std::pair<const char*, std::string> variables[] = {
      {"HOLDFAST_NAME", lock.name()},
      {"HOLDFAST_LEASE", base::to_string(lock.id())},
      {"HOLDFAST_TOKEN", base::to_string(lock.token())},
      {"HOLDFAST_OWNER", lock.owner()},
      {"HOLDFAST_LEASES", with_lease(outer_leases(), lock.id())},
      {"HOLDFAST_KEEPER", std::to_string(getpid())},
      {"HOLDFAST_STORE", session.url_for_command()}};
  std::string text;
  for (const auto& [name, value] : variables) {
    text += fmt::format("export {}={}\n", name, shell_word(value));
  }
  return text;
}

std::string text_of(const Session& session, const HoldOptions& options, const locks::Lock& lock) {
  if (!session.json()) {
    const std::string text = for_shell(session, lock);
    return options.shell != 0 ? text : if_lives(options.caller, text);
  }
  return to_line({{"name", lock.name()},
                  {"lease_id", base::to_string(lock.id())},
                  {"token", lock.token().value()},
                  {"owner", lock.owner()},
                  {"ttl_ms", to_ms(options.claim.ttl)},
                  {"keeper", getpid()}}) +
         "\n";
}

// Returns whether the text was printed by the process at the other end.
bool hand_over(const Descriptor& connection, const std::string& text) {
  if (send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(text.size())) {
    return false;
  }
  shutdown(connection.get(), SHUT_WR);
  char printed = 0;
  return read(connection.get(), &printed, 1) == 1;
}

void look_after(Session& session, const HoldOptions& options, const ProcessHandle& shell,
                Signals& signals, Story& story, locks::Lock& lock) {
  if (keep(lock, shell, signals) != KeeperEnd::lost) {
    static_cast<void>(lock.release());
    return;
  }
  session.report({base::ErrorCode::lost,
                  fmt::format("lost {}: {}{}", base::printable(options.name), story.cause_of_loss(),
                              options.ignore_loss ? "" : "; ending the shell")});
  if (!options.ignore_loss) {
    shell.signal(SIGTERM);
  }
}

// Sends this process TERM when the one that was called ends: without it nobody waits for the name.
void end_with(pid_t caller) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != caller) {
    raise(SIGTERM);  // it has ended already
  }
}
void outlive_caller() { prctl(PR_SET_PDEATHSIG, 0); }

// The life of the keeper. Returns what `hold` ends with if it could not acquire the name.
int be_keeper(const HoldOptions& options, const locks::AcquireOptions& how,
              const ProcessHandle& shell, const Descriptor& connection) {
  Signals signals;  // before any thread
  Session session(options.global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  Story story(session, options.name, options.claim.ttl);
  locks::LockProvider provider(session.store(), story.provider_options(how.owner));
  auto acquired = acquire_patiently(session, signals, provider, options.name, how,
                                    style_of(options.claim.waiting));
  if (!acquired) {
    return session.report(options.name, acquired.error());
  }
  if (const auto* const busy = std::get_if<NotFree>(&*acquired)) {
    return session.report(not_free_error(options.name, *busy, *how.wait));
  }
  if (const auto* const interrupted = std::get_if<Interrupted>(&*acquired)) {
    return kSignalled + interrupted->signal;
  }
  auto& lock = std::get<locks::Lock>(*acquired);
  story.begin();
  outlive_caller();
  if (hand_over(connection, text_of(session, options, lock))) {
    go_to_background();
    look_after(session, options, shell, signals, story, lock);
  }
  return kSuccess;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

// Prints the text of the keeper, if it could acquire the name. Returns the exit code.
int print_for_keeper(pid_t keeper, Descriptor connection) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t size = 0; (size = read(connection.get(), bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  if (text.empty()) {
    return status_of(keeper);
  }
  write_output(text);
  if (close_output()) {
    const char printed = 1;
    static_cast<void>(send(connection.get(), &printed, 1, MSG_NOSIGNAL));
    return kSuccess;
  }
  connection = Descriptor();
  status_of(keeper);  // it has released the lease
  return kSuccess;    // `main` says what is wrong with the output
}

int hold_for_shell(const Invocation& call, HoldOptions& options) {
  CommandLine line(kHelp);
  line.positional("NAME", "The name to hold: 1 to 1024 bytes", into(options.name),
                  Presence::required);
  options.claim.declare(line);
  line.option("--for", "PID", "The process to hold it for (default: the caller)",
              into(options.shell, 1, std::numeric_limits<pid_t>::max()));
  line.flag("--ignore-loss", options.ignore_loss, "If the lease is lost, only report it");
  options.global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  const auto id = options.shell != 0 ? static_cast<pid_t>(options.shell) : options.caller;
  if (options.claim.owner.empty()) {
    options.claim.owner = owner_of_process(id);
  }
  const auto how = options.claim.options();
  if (!how) {
    return line.mistake(how.error().message);
  }
  const auto shell = ProcessHandle::open(id);
  if (!shell) {
    return line.mistake(fmt::format("there is no process {} to hold it for", id));
  }
  Connection connection = connect();
  const pid_t called = getpid();
  const pid_t keeper = fork();  // before any thread
  if (keeper < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (keeper == 0) {
    end_with(called);
    connection.here = Descriptor();
    _exit(status_of_work([&] { return be_keeper(options, *how, *shell, connection.there); }));
  }
  connection.there = Descriptor();
  return print_for_keeper(keeper, std::move(connection.here));
}

}  // namespace

int hold(const Invocation& call) {
  HoldOptions options{.global = call.global};
  const int status = status_of_work([&] { return hold_for_shell(call, options); });
  if (status != kSuccess && !options.global.json) {
    print_output("(exit {})\n", status);  // an eval of nothing would succeed
  }
  return status;
}

}  // namespace holdfast::cli::commands
