#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <holdfast/base/try.h>

#include "apps/holdfast/torture/register.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli::torture {

namespace {

base::Error failure(const std::filesystem::path& file) {
  return {base::ErrorCode::unavailable,
          "cannot use " + file.string() + ": " + std::generic_category().message(errno)};
}

base::Result<Descriptor> open_file(const std::filesystem::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (opened.get() < 0) {
    return std::unexpected(failure(file));
  }
  return opened;
}

}  // namespace

Register::Register(std::filesystem::path file, std::optional<fence::FileGuard> guard)
    : file_(std::move(file)), guard_(std::move(guard)) {}

base::Result<Register> Register::open(const std::filesystem::path& file, Fenced fenced) {
  if (fenced == Fenced::no) {
    return Register(file, std::nullopt);
  }
  HOLDFAST_TRY_LET(auto guard, fence::FileGuard::open(file));
  return Register(file, std::move(guard));
}

base::Result<std::optional<fence::FilePass>> Register::enter(base::FencingToken token) const {
  if (!guard_) {
    return std::optional<fence::FilePass>();
  }
  HOLDFAST_TRY_LET(auto pass, guard_->enter(token));
  return std::optional<fence::FilePass>(std::move(pass));
}

base::Result<std::uint64_t> Register::read(base::FencingToken token) const {
  HOLDFAST_TRY_LET(const auto pass, enter(token));
  HOLDFAST_TRY_LET(const Descriptor file, open_file(file_));
  struct stat state{};
  Version last;
  if (::fstat(file.get(), &state) != 0) {
    return std::unexpected(failure(file_));
  }
  const off_t whole = state.st_size - state.st_size % static_cast<off_t>(sizeof last);
  if (whole == 0) {
    return 0;
  }
  const off_t begin = whole - static_cast<off_t>(sizeof last);
  if (::pread(file.get(), &last, sizeof last, begin) != sizeof last) {
    return std::unexpected(failure(file_));
  }
  return last.write;
}

base::Result<void> Register::write(const Version& version) const {
  HOLDFAST_TRY_LET(const auto pass, enter(base::FencingToken(version.token)));
  HOLDFAST_TRY_LET(const Descriptor file, open_file(file_));
  if (::write(file.get(), &version, sizeof version) != sizeof version) {
    return std::unexpected(failure(file_));
  }
  return {};
}

std::vector<Version> Register::versions(const std::filesystem::path& file) {
  std::vector<Version> all;
  std::ifstream in(file, std::ios::binary);
  for (Version version; in.read(reinterpret_cast<char*>(&version), sizeof version);) {
    all.push_back(version);
  }
  return all;
}

}  // namespace holdfast::cli::torture
