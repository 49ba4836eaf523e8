#include <tests/support/altered_machine.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <tests/support/postgres_process.h>

namespace holdfast::tests {

// Everything is copied to a folder that the server's user may read.
AlteredMachine::AlteredMachine() {
  std::filesystem::copy_file(HOLDFAST_ALTERED_LIBC, folder_ / "libc.so");
  give_to_postgres(folder_.path());
}

std::vector<std::string> AlteredMachine::environment() const {
  return {"LD_PRELOAD=" + (folder_ / "libc.so").string(),
          "HOLDFAST_ALTERED=" + folder_.path().string()};
}

void AlteredMachine::fill_disk() const { put("full", ""); }

void AlteredMachine::free_disk() const { std::filesystem::remove(folder_ / "full"); }

void AlteredMachine::set_clock_off_by(std::chrono::microseconds difference) const {
  put("clock", std::to_string(difference.count()));
}

// In one step, so that nobody reads half of it.
void AlteredMachine::put(const std::string& file, const std::string& text) const {
  const auto path = folder_ / (file + ".new");
  if (!(std::ofstream(path) << text << std::flush)) {
    throw std::runtime_error("cannot write " + path.string());
  }
  std::filesystem::rename(path, folder_ / file);
}

}  // namespace holdfast::tests
