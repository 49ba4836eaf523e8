#include <array>
#include <fstream>
#include <memory>

#include <openssl/evp.h>

#include "file_hash.h"

namespace invoices {

namespace {

using holdfast::base::ErrorCode;
using holdfast::base::fail;
using holdfast::base::Result;

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 0xFU];
  }
  return text;
}

}  // namespace

Result<std::string> file_hash(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr);
  std::array<char, 1U << 16U> buffer{};
  while (input.read(buffer.data(), buffer.size()) || input.gcount() > 0) {
    EVP_DigestUpdate(digest.get(), buffer.data(), static_cast<std::size_t>(input.gcount()));
  }
  if (!input.eof()) {
    return fail(ErrorCode::invalid_argument, "cannot read the file " + file.string());
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(digest.get(), hash.data(), &size);
  return hexadecimal(hash.data(), size);
}

}  // namespace invoices
