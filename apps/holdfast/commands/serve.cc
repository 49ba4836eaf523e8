#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/serve/api.h"
#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast serve",
    .usage = "[OPTIONS]",
    .about =
        "Show the store to browsers and programs, live: names, holders, waiters, deadlocks and\n"
        "history as a page, a JSON API (/api/v1) and metrics (/metrics). Changes nothing without\n"
        "--admin-token-file, and answers this machine only. Runs until it is interrupted, also\n"
        "while the store is unreachable.\n",
    .examples =
        "  holdfast serve                                      then open the URL that it prints\n"
        "  holdfast serve --store redis://localhost --listen 127.0.0.1:8080\n"
        "  curl -s http://127.0.0.1:7447/api/v1/names | jq -r '.names[].name'"};

struct ServeOptions {
  GlobalOptions global{};
  std::string listen = "127.0.0.1:7447";
  std::vector<std::string> hosts{};
  std::string certificate{};
  std::string key{};
  std::string admin_token_file{};
  bool insecure = false;
  base::Duration every = std::chrono::seconds(1);
};

void declare(CommandLine& line, ServeOptions& options) {
  line.option("--listen", "ADDRESS", "The address and port (default: 127.0.0.1:7447)",
              into(options.listen));
  line.option("--host", "NAME", "Also answer requests for this host name, or several: a,b",
              [&options](std::string_view text) -> base::Result<void> {
                for (const auto name : std::views::split(text, ',')) {
                  options.hosts.push_back(serve::host_without_port(std::string_view(name)));
                }
                return {};
              });
  line.option("--tls-certificate", "FILE", "Serve HTTPS with this certificate chain (PEM)",
              into(options.certificate));
  line.option("--tls-key", "FILE", "The key of the certificate (PEM)", into(options.key));
  line.flag("--insecure", options.insecure,
            "Allow --listen on other than the loopback interface without TLS");
  line.option("--admin-token-file", "FILE",
              "Allow steal, clear and reset with the token in this file",
              into(options.admin_token_file));
  line.option("--every", "DURATION", "The least time between two listings (default: 1s)",
              into(options.every));
  options.global.declare(line);
}

// Returns the reason why the options do not fit together; empty if they do.
std::string mistake_in(const ServeOptions& options, const serve::ListenAddress& address) {
  if (options.certificate.empty() != options.key.empty()) {
    return "--tls-certificate and --tls-key need each other";
  }
  if (!address.is_loopback() && options.certificate.empty() && !options.insecure) {
    return fmt::format(
        "{} can be reached from other machines, which could read every name and owner: use "
        "--tls-certificate, or --insecure behind a proxy that protects it",
        options.listen);
  }
  if (!address.is_loopback() && options.certificate.empty() && !options.admin_token_file.empty()) {
    return fmt::format(
        "{} can be reached from other machines, which could read the admin token on its way: use "
        "--tls-certificate, or --listen on 127.0.0.1 behind a proxy",
        options.listen);
  }
  if (options.every < std::chrono::milliseconds(100)) {
    return "--every must be at least 100ms";
  }
  return {};
}

// The parts of a server that runs, in the order in which they need each other.
class Running {
 public:
  Running(std::unique_ptr<serve::HttpServer> server, Session& session, const ServeOptions& options,
          serve::Guard guard, const std::optional<std::string>& token)
      : server_(std::move(server)),
        watcher_(session.store(), options.every, [this] { server_->publish(); }),
        api_(session.store(), session.location(), watcher_, *server_, std::move(guard),
             token ? std::make_unique<const serve::Admin>(
                         session.store(), watcher_, *token,
                         [this](serve::AuditLog::Kind kind, std::string_view line) {
                           audit_.add(kind, line);
                         })
                   : nullptr) {
    server_->start([this](const serve::Request& request) { return api_.answer(request); },
                   [this] { return api_.newest(); });
  }
  ~Running() { server_->stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  serve::AuditLog audit_{STDERR_FILENO};
  const std::unique_ptr<serve::HttpServer> server_;
  serve::Watcher watcher_;
  const serve::Api api_;
};

void announce(Session& session, const std::string& url) {
  if (session.json()) {
    print_line({{"url", url}, {"store", engines::without_password(session.location().url)}});
  } else {
    print_output("{} shows {}\n", url, engines::without_password(session.location().url));
  }
}

// Blocks until a signal asks this process to end.
void wait_for_the_end(Session& session, const Signals& signals) {
  for (;;) {
    session.service().alive();
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(
        std::min<base::Duration>(session.service().interval(), std::chrono::hours(1)));
    pollfd source{.fd = signals.descriptor(), .events = POLLIN, .revents = 0};
    poll(&source, 1, static_cast<int>(pause.count()));
    while (const auto signal = signals.next()) {
      if (signals.asks_to_end(*signal)) {
        return;
      }
      if (*signal == SIGTSTP) {
        suspend(Stop::this_process);
      }
    }
  }
}

base::Result<std::optional<std::string>> token_of(const ServeOptions& options) {
  if (options.admin_token_file.empty()) {
    return std::nullopt;
  }
  return serve::read_admin_token(options.admin_token_file);
}

int serve_store(Session& session, const ServeOptions& options,
                const serve::ListenAddress& address) {
  session.serve();
  // Before any thread is started: they inherit the mask of signals.
  const Signals signals;
  // A reader of the audit log that ends does not end the server.
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto token = token_of(options);
  if (!token) {
    return session.report(token.error());
  }
  auto server = serve::HttpServer::open({.address = address,
                                         .certificate = options.certificate,
                                         .key = options.key,
                                         .headers = serve::safety_headers()});
  if (!server) {
    return session.report(server.error());
  }
  const std::string url = fmt::format("{}://{}:{}/", options.certificate.empty() ? "http" : "https",
                                      address.url_host(), (*server)->port());
  std::vector<std::string> hosts = options.hosts;
  hosts.push_back(address.url_host());
  const Running running(*std::move(server), session, options, serve::Guard(std::move(hosts)),
                        *token);
  announce(session, url);
  if (!flush_output()) {
    return kSuccess;  // `main` reports it
  }
  session.service().ready("serving " + url);
  wait_for_the_end(session, signals);
  return kSuccess;
}

}  // namespace

int serve(const Invocation& call) {
  ServeOptions options{.global = call.global};
  CommandLine line(kHelp);
  declare(line, options);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  const auto address = serve::ListenAddress::parse(options.listen);
  if (!address) {
    return line.mistake(address.error().message);
  }
  if (const std::string mistake = mistake_in(options, *address); !mistake.empty()) {
    return line.mistake(mistake);
  }
  Session session(options.global);
  return serve_store(session, options, *address);
}

}  // namespace holdfast::cli::commands
