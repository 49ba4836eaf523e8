#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/holdfast/tests/http_client.h"
#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

// A test with `holdfast serve` on a free port, on the default store of its home.
class Serving : public Workspace {
 protected:
  void SetUp() override { start_server(); }

  // Starts the server with these words more, and returns when it listens.
  void start_server(const Words& words = {}) {
    Words all{"serve", "--json", "--listen", "127.0.0.1:0", "--every", "100ms"};
    all.insert(all.end(), words.begin(), words.end());
    server_ = start(all);
    const auto line = nlohmann::json::parse(server_->read_line(), nullptr, false);
    ASSERT_TRUE(line.is_object()) << server_->read_error_line();
    url_ = line["url"];
    port_ = static_cast<std::uint16_t>(std::stoi(url_.substr(url_.rfind(':') + 1)));
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  Process& server() noexcept { return *server_; }
  [[nodiscard]] nlohmann::json api(const std::string& target) const {
    return get(port_, "/api/v1/" + target).json();
  }

 private:
  std::unique_ptr<Process> server_;
  std::string url_;
  std::uint16_t port_ = 0;
};

}  // namespace holdfast::cli::testing
