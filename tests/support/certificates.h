#pragma once

#include <filesystem>

namespace holdfast::tests {

// Makes in the folder, with the program `openssl`: an authority (ca.pem), a server's certificate of
// it for localhost and 127.0.0.1 (server.pem, server.key), and an authority that has signed nothing
// (strange.pem). Throws std::runtime_error.
void make_certificates(const std::filesystem::path& folder);

}  // namespace holdfast::tests
