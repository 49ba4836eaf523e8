#include <holdfast/engines/postgresql/internal/address.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include <holdfast/base/try.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::string_view rest = list;
  for (;;) {
    const std::size_t comma = rest.find(',');
    parts.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    rest.remove_prefix(comma + 1);
  }
}

bool is_of_a_host(std::string_view keyword) {
  return keyword == "host" || keyword == "hostaddr" || keyword == "port";
}

}  // namespace

Result<Address> Address::make(const PostgresOptions& options) {
  HOLDFAST_TRY_LET(const auto libpq, Libpq::load());
  char* why = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> parsed(
      libpq->conninfo_parse(options.conninfo.c_str(), &why), libpq->conninfo_free);
  if (why != nullptr) {
    libpq->free_memory(why);  // it may quote a password
  }
  if (parsed == nullptr) {
    return fail(ErrorCode::invalid_argument,
                "libpq does not understand the address of the server: check its hosts, ports and "
                "options");
  }
  Address address(*libpq);
  address.common_ = {{"application_name", "holdfast"}, {"target_session_attrs", "read-write"}};
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;
  std::size_t hosts = 1;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr || std::string_view(option->keyword) == "connect_timeout") {
      continue;
    }
    if (is_of_a_host(option->keyword)) {
      lists.emplace_back(option->keyword, split(option->val));
      hosts = std::max(hosts, lists.back().second.size());
    } else {
      std::erase_if(address.common_,
                    [&](const auto& word) { return word.first == option->keyword; });
      address.common_.emplace_back(option->keyword, option->val);
    }
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    Words words;
    for (const auto& [keyword, values] : lists) {
      if (values.size() != 1 && values.size() != hosts) {
        return fail(ErrorCode::invalid_argument,
                    "the address of the server has another number of ports than of hosts");
      }
      words.emplace_back(keyword, values.size() == 1 ? values.front() : values[i]);
    }
    address.hosts_.push_back(std::move(words));
  }
  return address;
}

std::vector<std::pair<std::string, std::string>> Address::parameters(std::size_t host) const {
  Words words = common_;
  words.insert(words.end(), hosts_[host].begin(), hosts_[host].end());
  return words;
}

}  // namespace holdfast::engines::postgresql::internal
