#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// The machine of a server, as far as a test changes it for that server alone: a full disk, another
// clock. The server is started with `environment()`; changes take effect at once.
//
// A failure is a std::runtime_error.
class AlteredMachine {
 public:
  AlteredMachine();

  // For PostgresServer::Options.
  [[nodiscard]] std::vector<std::string> environment() const;

  // From now on no table has room to grow; or has it again.
  void fill_disk() const;
  void free_disk() const;

  // The clock differs by so much from the true one.
  void set_clock_off_by(std::chrono::microseconds difference) const;

 private:
  void put(const std::string& file, const std::string& text) const;

  const TemporaryFolder folder_;
};

}  // namespace holdfast::tests
