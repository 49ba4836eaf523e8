#include <holdfast/fence/mongo_guard.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/base/utf8.h>
#include <holdfast/fence/bigint.h>

namespace holdfast::fence {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

std::string json_text(std::string_view utf8) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      text.append("\\u00").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 0xfU]);
    } else {
      text.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
    }
  }
  return text + '"';
}

// A fence as Extended JSON.
struct Parts {
  std::string field;
  std::string token;
};

Result<Parts> parts_of(base::FencingToken token, const MongoFence& fence) {
  const std::string& name = fence.field;
  if (name.empty() || name.starts_with('$') || !base::is_utf8(name) ||
      name.find_first_of(std::string_view(".\0", 2)) != std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                "the field '" + base::printable(name) +
                    "' cannot hold a fence: take a name in UTF-8 without dots and NUL bytes that "
                    "does not begin with $");
  }
  HOLDFAST_TRY_LET(const auto number, to_bigint(token));
  return Parts{json_text(name), R"({"$numberLong":")" + std::to_string(number) + R"("})"};
}

std::string condition_of(const Parts& fence) {
  // MongoDB matches an array if one of its elements matches.
  return R"("$or":[{)" + fence.field + R"(:{"$lte":)" + fence.token +
         R"(,"$not":{"$type":"array"}}},{)" + fence.field + R"(:{"$exists":false}}])";
}

}  // namespace

Result<std::string> mongo_filter(std::string_view id, base::FencingToken token,
                                 const MongoFence& fence) {
  if (!base::is_utf8(id)) {
    return fail(ErrorCode::invalid_argument,
                "the id '" + base::printable(id) +
                    "' is not UTF-8: use mongo_condition and a filter of your own");
  }
  HOLDFAST_TRY_LET(const auto parts, parts_of(token, fence));
  return R"({"_id":)" + json_text(id) + "," + condition_of(parts) + "}";
}

Result<std::string> mongo_condition(base::FencingToken token, const MongoFence& fence) {
  HOLDFAST_TRY_LET(const auto parts, parts_of(token, fence));
  return "{" + condition_of(parts) + "}";
}

Result<std::string> mongo_fence_fields(base::FencingToken token, const MongoFence& fence) {
  HOLDFAST_TRY_LET(const auto parts, parts_of(token, fence));
  return "{" + parts.field + ":" + parts.token + "}";
}

}  // namespace holdfast::fence
