#include <holdfast/engines/store_url.h>

#include <algorithm>
#include <cctype>

#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>

namespace holdfast::engines {

namespace {

using base::ErrorCode;
using base::fail;

bool is_scheme(std::string_view text) {
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-') {
      return false;
    }
  }
  return !text.empty();
}

}  // namespace

std::string without_password(std::string_view url) {
  std::string text(url);
  const std::size_t begin = text.find("://");
  if (begin == text.npos) {
    return text;
  }
  const std::size_t colon = text.find(':', begin + 3);
  std::size_t end = text.rfind('@', text.find_first_of("/?", begin + 3));
  if (end == text.npos || end < begin) {
    end = text.rfind('@');  // of a password with bytes in it that should have been escaped
  }
  if (end != text.npos && colon < end) {
    text.replace(colon + 1, end - colon - 1, "***");
  }
  return text;
}

base::Result<StoreUrl> StoreUrl::parse(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "'" + base::printable(without_password(text)) +
                                                 "' is not the URL of a store: " + why);
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) {
    return bad("it does not begin with a scheme, as in sqlite:/path/to/file.db");
  }
  StoreUrl url;
  url.scheme = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 1);
  std::string_view query;
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  const auto plain_rest = base::percent_decode(rest);
  if (!plain_rest) {
    return bad("a percent sign is not followed by two hexadecimal digits");
  }
  url.rest = *plain_rest;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return bad("an option is not of the form name=value");
    }
    const auto value = base::percent_decode(option.substr(equals + 1));
    if (!value) {
      return bad("a percent sign is not followed by two hexadecimal digits");
    }
    if (!url.options.emplace(option.substr(0, equals), *value).second) {
      return bad("the option " + base::printable(option.substr(0, equals)) + " is there twice");
    }
  }
  return url;
}

}  // namespace holdfast::engines
