#include <fstream>
#include <iterator>

#include <tests/fence/guarded_resource.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/fence/file_guard.h>

namespace holdfast::tests {

namespace {

using base::ErrorCode;
using base::FencingToken;

class FileWriter : public Writer {
 public:
  explicit FileWriter(const std::filesystem::path& file)
      : guard_(base::value_or_throw(
            fence::FileGuard::open(file, {.wait = std::chrono::seconds(60)}))) {}
  bool write(FencingToken token, const std::string& value) override {
    const auto written = guard_.write(token, value);
    if (!written && written.error().code != ErrorCode::lost &&
        written.error().code != ErrorCode::invalid_argument) {
      base::throw_error(written.error());
    }
    return written.has_value();
  }

 private:
  fence::FileGuard guard_;
};

// Every guard reads what is on the disk: there is nothing to restart.
class FileResource : public GuardedResource {
 public:
  std::unique_ptr<Writer> writer() override { return std::make_unique<FileWriter>(folder_ / "f"); }
  std::string read() override {
    std::ifstream stream(folder_ / "f", std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void restart() override {}

 private:
  TemporaryFolder folder_;
};

}  // namespace

std::unique_ptr<GuardedResource> make_file_resource() { return std::make_unique<FileResource>(); }

}  // namespace holdfast::tests
