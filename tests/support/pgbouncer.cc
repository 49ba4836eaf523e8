#include <tests/support/pgbouncer.h>

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <libpq-fe.h>
#include <tests/support/postgres_process.h>

namespace holdfast::tests {

PgBouncer::PgBouncer(const PostgresServer& server) {
  constexpr std::chrono::seconds kPatience{60};
  give_to_postgres(folder_.path());
  const std::string settings = (folder_ / "settings").string();
  std::ofstream(settings) << "[databases]\n* = host=" << server.folder()
                          << " user=" << kPostgresUser
                          << "\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = "
                          << folder_.path().string()
                          << "\nauth_type = any\npool_mode = transaction\nmax_client_conn = 500\n"
                             "default_pool_size = 4\n";
  process_ = spawn_as_postgres({"/usr/sbin/pgbouncer", settings}, folder_.path());
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (::PQping(url().c_str()) != PQPING_OK) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_ ||
        std::chrono::steady_clock::now() >= give_up) {
      process_ = -1;
      throw std::runtime_error("pgbouncer does not start; see " + (folder_ / "log").string());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

PgBouncer::~PgBouncer() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

std::string PgBouncer::url(const std::string& database) const {
  return std::string("postgresql://") + kPostgresUser + "@/" + database +
         "?port=6432&host=" + folder_.path().string();
}

}  // namespace holdfast::tests
