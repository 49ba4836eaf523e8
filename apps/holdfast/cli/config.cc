#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/cli/config.h"
#include "apps/holdfast/cli/environment.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Reads one file, line by line.
class ConfigReader {
 public:
  ConfigReader(Config& config, const std::string& file) : config_(config), file_(file) {}

  Result<void> read_line(std::string_view line) {
    ++number_;
    line = trimmed(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') {
      return {};
    }
    if (line.front() == '[') {
      return begin_store(line);
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return wrong("this is neither [NAME] nor KEY = VALUE");
    }
    return set(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }

  // Checks the store that was read last, if any.
  [[nodiscard]] Result<void> end_store() const {
    if (store_ != nullptr && store_->url.empty()) {
      return wrong_at(begun_, "this store has no url");
    }
    return {};
  }

 private:
  [[nodiscard]] Result<void> wrong(std::string_view why) const { return wrong_at(number_, why); }

  [[nodiscard]] Result<void> wrong_at(int number, std::string_view why) const {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}:{}: {}", base::printable(file_), number, why));
  }

  Result<void> begin_store(std::string_view line) {
    HOLDFAST_TRY(end_store());
    const std::string name(trimmed(line.substr(1, line.find(']') - 1)));
    if (line.find(']') != line.size() - 1 || name.empty() || name.find(':') != std::string::npos) {
      return wrong("this is not [NAME], a name without a colon");
    }
    begun_ = number_;
    store_ = &config_.stores[name];
    *store_ = NamedStore{.file = file_};
    return {};
  }

  Result<void> set(std::string_view key, std::string_view value) {
    if (store_ == nullptr) {
      if (key != "default") {
        return wrong("before the first [NAME] there is only default = NAME");
      }
      config_.default_store = value;
      return {};
    }
    if (key == "url") {
      store_->url = value;
    } else if (key == "password_file") {
      store_->password_file = value;
    } else if (key == "password_env") {
      store_->password_env = value;
    } else {
      return wrong("there is no key '" + base::printable(key) +
                   "': there are url, password_file and password_env");
    }
    if (!store_->password_file.empty() && !store_->password_env.empty()) {
      return wrong("a store has password_file or password_env, not both");
    }
    return {};
  }

  Config& config_;
  const std::string& file_;
  int number_ = 0;
  int begun_ = 0;  // the line of [NAME]
  NamedStore* store_ = nullptr;
};

Result<void> add_file(Config& config, const std::string& file) {
  errno = 0;
  std::ifstream stream(file);
  if (!stream && (errno == ENOENT || errno == ENOTDIR)) {
    return {};
  }
  std::string text;
  std::array<char, 4096> bytes{};
  // Not by an iterator of the buffer, which throws if it cannot read.
  while (stream) {
    stream.read(bytes.data(), bytes.size());
    text.append(bytes.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.eof()) {
    return fail(ErrorCode::unavailable, "cannot read " + base::printable(file) + ": " +
                                            std::generic_category().message(errno));
  }
  return add_config(config, text, file);
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    all += std::isalnum(code) != 0 ? std::string(1, byte) : fmt::format("%{:02X}", code);
  }
  return all;
}

}  // namespace

Result<void> add_config(Config& config, std::string_view text, const std::string& file) {
  ConfigReader reader(config, file);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    HOLDFAST_TRY(reader.read_line(line));
  }
  return reader.end_store();
}

Result<Config> read_config() {
  Config config;
  if (const std::string file = environment("HOLDFAST_CONFIG"); !file.empty()) {
    HOLDFAST_TRY(add_file(config, file));
    return config;
  }
  HOLDFAST_TRY(add_file(config, "/etc/holdfast.conf"));
  if (const auto folder = xdg_folder("XDG_CONFIG_HOME", ".config")) {
    HOLDFAST_TRY(add_file(config, (*folder / "holdfast/config").string()));
  }
  return config;
}

Result<std::string> read_password(const std::string& file) {
  errno = 0;
  std::ifstream stream(file);
  std::string password;
  if (stream && std::getline(stream, password) && password.ends_with('\r')) {
    password.pop_back();
  }
  if (password.empty()) {
    return fail(ErrorCode::unavailable,
                fmt::format("cannot read a password from {}: {}", base::printable(file),
                            errno != 0 ? std::generic_category().message(errno) : "it is empty"));
  }
  return password;
}

std::string with_password(const std::string& url, std::string_view password) {
  const std::size_t slashes = url.find("://");
  if (slashes == std::string::npos || url.starts_with("sqlite:") || url.starts_with("memory:")) {
    return url;
  }
  const std::size_t begin = slashes + 3;
  const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  if (at == std::string::npos || at < begin) {
    return url.substr(0, begin) + ":" + escaped(password) + "@" + url.substr(begin);
  }
  const bool has_one = url.substr(begin, at - begin).find(':') != std::string::npos;
  return has_one ? url : url.substr(0, at) + ":" + escaped(password) + url.substr(at);
}

Result<std::string> url_of(const NamedStore& store) {
  if (!store.password_file.empty()) {
    HOLDFAST_TRY_LET(const auto password, read_password(store.password_file));
    return with_password(store.url, password);
  }
  if (!store.password_env.empty()) {
    const std::string password = environment(store.password_env.c_str());
    if (password.empty()) {
      return fail(ErrorCode::unavailable,
                  fmt::format("the variable {}, which {} names for a password, is not set",
                              base::printable(store.password_env), base::printable(store.file)));
    }
    return with_password(store.url, password);
  }
  return store.url;
}

}  // namespace holdfast::cli
