#include <holdfast/fence/file_guard.h>

#include <string>
#include <system_error>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/try.h>
#include <holdfast/fence/far_ahead.h>
#include <holdfast/fence/internal/fence_file.h>
#include <holdfast/fence/internal/file_calls.h>
#include <holdfast/fence/internal/replace_file.h>

namespace holdfast::fence {

using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Result;
using internal::FenceFile;
using std::filesystem::path;

namespace {

path with_suffix(path file, const char* suffix) {
  file += suffix;
  return file;
}

}  // namespace

FilePass::FilePass(path file, std::unique_ptr<FenceFile> fence) noexcept
    : file_(std::move(file)), fence_(std::move(fence)) {}
FilePass::FilePass(FilePass&& other) noexcept = default;
FilePass::~FilePass() = default;

Result<void> FilePass::write(std::string_view bytes) {
  return internal::replace_file(file_, with_suffix(file_, ".fence-new"), bytes);
}

Result<void> FilePass::hand_down() { return fence_->hand_down(); }

Result<FileGuard> FileGuard::open(const path& file, FileGuardOptions options) {
  const path name = file.filename();
  if (name.empty() || name == "." || name == "..") {
    return fail(ErrorCode::invalid_argument,
                "'" + internal::name_of(file) + "' does not end in the name of a file");
  }
  std::error_code error;
  const path folder = std::filesystem::weakly_canonical(
      std::filesystem::absolute(file, error).parent_path(), error);
  if (error) {
    return std::unexpected(internal::failure("find", file, error.value()));
  }
  return FileGuard(folder / name, options);
}

FileGuard::FileGuard(path file, FileGuardOptions options)
    : file_(std::move(file)), fence_file_(with_suffix(file_, ".fence")), options_(options) {}

Result<FilePass> FileGuard::enter(FencingToken token) const {
  HOLDFAST_TRY(check_not_far_ahead(token));
  HOLDFAST_TRY_LET(
      auto fence,
      FenceFile::lock(fence_file_, base::Deadline::after(base::steady_clock(), options_.wait)));
  // Before anything is written: even if we crash here, an older token is rejected.
  HOLDFAST_TRY(fence.admit(token));
  return FilePass(file_, std::make_unique<FenceFile>(std::move(fence)));
}

Result<void> FileGuard::check(FencingToken token) const {
  const auto pass = enter(token);
  return pass ? Result<void>() : std::unexpected(pass.error());
}

Result<void> FileGuard::write(FencingToken token, std::string_view bytes) const {
  auto pass = enter(token);
  return pass ? pass->write(bytes) : std::unexpected(std::move(pass).error());
}

Result<std::optional<FencingToken>> FileGuard::newest() const {
  return FenceFile::peek(fence_file_);
}

}  // namespace holdfast::fence
