// The content of a .fence file: a token, none, or corrupt; a newer token replaces what is there.
#include <holdfast/fence/internal/fence_file.h>

#include <filesystem>
#include <fstream>

#include <tests/fuzz/fuzz.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/base/clock.h>

namespace {

using namespace holdfast;
using fence::internal::FenceFile;
using fuzz::require;

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  require(static_cast<bool>(file.flush()), "the file is written");
}

base::Result<void> admit(const std::filesystem::path& path, base::FencingToken token) {
  auto file =
      FenceFile::lock(path, base::Deadline::after(base::steady_clock(), std::chrono::seconds(60)));
  require(file.has_value(), "the file is locked");
  return file->admit(token);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::TemporaryFolder kFolder;
  const std::filesystem::path path = kFolder / "file.fence";
  const std::string_view bytes = fuzz::as_text(data, size);
  write(path, bytes);
  const auto newest = FenceFile::peek(path);
  const base::FencingToken greatest(~std::uint64_t{0});
  if (!newest) {
    require(newest.error().code == base::ErrorCode::corrupt, "what cannot be read is corrupt");
    const auto admitted = admit(path, greatest);
    require(!admitted && admitted.error().code == base::ErrorCode::corrupt,
            "a corrupt file admits no token");
    return 0;
  }
  require(!*newest || !bytes.empty(), "no token comes from nothing");
  if (*newest && (*newest)->value() > 0) {
    const auto stale = admit(path, base::FencingToken((*newest)->value() - 1));
    require(!stale && stale.error().code == base::ErrorCode::lost, "a stale token is rejected");
  }
  require(admit(path, greatest).has_value(), "the greatest token is admitted");
  require(FenceFile::peek(path).value() == greatest, "and is the newest then");
  return 0;
}
