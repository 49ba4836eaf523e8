#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/error.h>

#include "invoice_table.h"

namespace invoices {

// A test with its own empty folder, which contains the table.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "invoices-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), pattern);
    }
    folder_ = pattern;
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::filesystem::path in_folder(const std::string& name) const {
    return folder_ / name;
  }
  [[nodiscard]] std::filesystem::path database() const { return in_folder("invoices.db"); }
  [[nodiscard]] std::vector<Invoice> stored() const {
    auto table = holdfast::base::value_or_throw(InvoiceTable::open(database()));
    return holdfast::base::value_or_throw(table.all());
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace invoices
