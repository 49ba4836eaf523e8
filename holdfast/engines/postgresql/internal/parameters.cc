#include <holdfast/engines/postgresql/internal/parameters.h>

#include <chrono>

namespace holdfast::engines::postgresql::internal {

namespace {

template <class Unsigned>
void append(std::string& to, Unsigned value) {
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8) {
    to.push_back(static_cast<char>(static_cast<unsigned char>(value >> shift)));
  }
}

std::string binary(std::int64_t value) {
  std::string bytes;
  append(bytes, static_cast<std::uint64_t>(value));
  return bytes;
}

std::string binary(const base::LeaseId& id) {
  std::string bytes;
  append(bytes, id.high());
  append(bytes, id.low());
  return bytes;
}

// The server's numbers of its types.
enum class Type : std::uint32_t { bytea = 17, bigint = 20, text = 25, uuid = 2950 };

// An array of one dimension. `element(i)` is the binary form of an element.
template <class Element>
std::string array(Type type, std::size_t size, const Element& element) {
  std::string bytes;
  append(bytes, std::uint32_t{size == 0 ? 0U : 1U});  // dimensions
  append(bytes, std::uint32_t{0});                    // no nulls
  append(bytes, static_cast<std::uint32_t>(type));
  if (size > 0) {
    append(bytes, static_cast<std::uint32_t>(size));
    append(bytes, std::uint32_t{1});  // the first index
  }
  for (std::size_t i = 0; i < size; ++i) {
    const std::string_view each = element(i);
    append(bytes, static_cast<std::uint32_t>(each.size()));
    bytes.append(each);
  }
  return bytes;
}

}  // namespace

Parameters& Parameters::bytes(std::string_view value) {
  values_.emplace_back(std::string(value));
  return *this;
}

Parameters& Parameters::number(std::int64_t value) {
  values_.emplace_back(binary(value));
  return *this;
}

Parameters& Parameters::flag(bool value) {
  values_.emplace_back(std::string(1, value ? '\1' : '\0'));
  return *this;
}

Parameters& Parameters::id(const base::LeaseId& value) {
  values_.emplace_back(binary(value));
  return *this;
}

Parameters& Parameters::nothing() {
  values_.emplace_back(std::nullopt);
  return *this;
}

Parameters& Parameters::time(base::Duration value) {
  return number(std::chrono::ceil<std::chrono::microseconds>(value).count());
}

Parameters& Parameters::optional_number(std::optional<std::int64_t> value) {
  return value ? number(*value) : nothing();
}

Parameters& Parameters::all_bytes(std::span<const std::string_view> values) {
  values_.emplace_back(array(Type::bytea, values.size(), [&](std::size_t i) { return values[i]; }));
  return *this;
}

Parameters& Parameters::all_texts(std::span<const std::string> values) {
  values_.emplace_back(
      array(Type::text, values.size(), [&](std::size_t i) { return std::string_view(values[i]); }));
  return *this;
}

Parameters& Parameters::all_ids(std::span<const base::LeaseId> values) {
  std::string each;
  values_.emplace_back(array(Type::uuid, values.size(), [&](std::size_t i) {
    each = binary(values[i]);
    return std::string_view(each);
  }));
  return *this;
}

Parameters& Parameters::all_numbers(std::span<const std::int64_t> values) {
  std::string each;
  values_.emplace_back(array(Type::bigint, values.size(), [&](std::size_t i) {
    each = binary(values[i]);
    return std::string_view(each);
  }));
  return *this;
}

}  // namespace holdfast::engines::postgresql::internal
