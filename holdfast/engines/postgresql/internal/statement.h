#pragma once

#include <string>

namespace holdfast::engines::postgresql::internal {

// A statement with the name under which a connection prepares it. Outlives the connections.
struct Statement {
  std::string name;
  std::string sql;
};

}  // namespace holdfast::engines::postgresql::internal
