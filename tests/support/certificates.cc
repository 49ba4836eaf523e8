#include <tests/support/certificates.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace holdfast::tests {

namespace {

void run_openssl(const std::filesystem::path& folder, const std::string& arguments) {
  const std::string command =
      "cd '" + folder.string() + "' && openssl " + arguments + " >>openssl.log 2>&1";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("openssl failed; see openssl.log in " + folder.string());
  }
}

void make_authority(const std::filesystem::path& folder, const std::string& name) {
  run_openssl(folder,
              "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
                  name + " -keyout " + name + ".key -out " + name + ".pem");
}

}  // namespace

void make_certificates(const std::filesystem::path& folder) {
  make_authority(folder, "ca");
  make_authority(folder, "strange");
  run_openssl(folder,
              "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server "
              "-keyout server.key -out server.csr");
  std::ofstream(folder / "server.ext") << "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
  run_openssl(folder,
              "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
              "-extfile server.ext -out server.pem");
}

}  // namespace holdfast::tests
