#include <holdfast/engines/mongodb/internal/bson.h>

#include <stdexcept>

// Each text goes to libbson with its size.
// NOLINTBEGIN(bugprone-suspicious-stringview-data-usage)

namespace holdfast::engines::mongodb::internal {

namespace {

int size_of(std::string_view text) { return static_cast<int>(text.size()); }

}  // namespace

std::optional<std::string_view> BsonValue::text() const {
  if (!BSON_ITER_HOLDS_UTF8(&place_)) {
    return std::nullopt;
  }
  std::uint32_t size = 0;
  const char* const text = bson_iter_utf8(&place_, &size);
  return std::string_view(text, size);
}

std::optional<std::int64_t> BsonValue::integer() const {
  if (!BSON_ITER_HOLDS_INT(&place_)) {
    return std::nullopt;
  }
  return bson_iter_as_int64(&place_);
}

std::optional<double> BsonValue::number() const {
  if (!BSON_ITER_HOLDS_NUMBER(&place_)) {
    return std::nullopt;
  }
  return bson_iter_as_double(&place_);
}

std::optional<bool> BsonValue::boolean() const {
  if (!BSON_ITER_HOLDS_BOOL(&place_)) {
    return std::nullopt;
  }
  return bson_iter_bool(&place_);
}

std::optional<Date> BsonValue::date() const {
  if (!BSON_ITER_HOLDS_DATE_TIME(&place_)) {
    return std::nullopt;
  }
  return Date{bson_iter_date_time(&place_)};
}

std::optional<std::string_view> BsonValue::bytes() const {
  if (!BSON_ITER_HOLDS_BINARY(&place_)) {
    return std::nullopt;
  }
  bson_subtype_t kind{};
  std::uint32_t size = 0;
  const std::uint8_t* bytes = nullptr;
  bson_iter_binary(&place_, &kind, &size, &bytes);
  if (kind != BSON_SUBTYPE_BINARY) {
    return std::nullopt;
  }
  return std::string_view(reinterpret_cast<const char*>(bytes), size);
}

std::optional<BsonElements> BsonValue::elements() const {
  BsonElements inside;
  if (!(BSON_ITER_HOLDS_DOCUMENT(&place_) || BSON_ITER_HOLDS_ARRAY(&place_)) ||
      !bson_iter_recurse(&place_, &inside.place_)) {
    return std::nullopt;
  }
  return inside;
}

std::optional<BsonValue> BsonValue::find(std::string_view key) const {
  auto inside = elements();
  return inside ? inside->find(key) : std::nullopt;
}

std::optional<BsonValue> BsonElements::next() {
  return bson_iter_next(&place_) ? std::optional(BsonValue(place_)) : std::nullopt;
}

std::optional<BsonValue> BsonElements::find(std::string_view key) {
  return bson_iter_find_w_len(&place_, key.data(), size_of(key)) ? std::optional(BsonValue(place_))
                                                                 : std::nullopt;
}

// A bson_t may keep its bytes within itself, so it cannot be moved by copying the struct.
Bson::Bson(Bson&& other) noexcept : elements_(other.elements_) {
  bson_init(&document_);
  *this = std::move(other);
}

Bson& Bson::operator=(Bson&& other) noexcept {
  if (this != &other) {
    bson_destroy(&document_);
    bson_steal(&document_, &other.document_);
    bson_init(&other.document_);
    elements_ = other.elements_;
    other.elements_ = 0;
  }
  return *this;
}

Bson Bson::parse(std::string_view json) {
  Bson parsed;
  bson_error_t error;
  bson_destroy(&parsed.document_);
  const bool good = bson_init_from_json(&parsed.document_, json.data(), size_of(json), &error);
  if (!good) {
    bson_init(&parsed.document_);
    throw std::logic_error(std::string("not JSON: ") + error.message);
  }
  parsed.elements_ = bson_count_keys(&parsed.document_);
  return parsed;
}

Bson& Bson::add(std::string_view key, std::string_view text) {
  bson_append_utf8(&document_, key.data(), size_of(key), text.data(), size_of(text));
  return *this;
}

Bson& Bson::add(std::string_view key, std::int32_t number) {
  bson_append_int32(&document_, key.data(), size_of(key), number);
  return *this;
}

Bson& Bson::add(std::string_view key, std::int64_t number) {
  bson_append_int64(&document_, key.data(), size_of(key), number);
  return *this;
}

Bson& Bson::add(std::string_view key, bool value) {
  bson_append_bool(&document_, key.data(), size_of(key), value);
  return *this;
}

Bson& Bson::add(std::string_view key, Date date) {
  bson_append_date_time(&document_, key.data(), size_of(key), date.milliseconds);
  return *this;
}

Bson& Bson::add(std::string_view key, const Bson& document) {
  bson_append_document(&document_, key.data(), size_of(key), &document.document_);
  return *this;
}

Bson& Bson::add_array(std::string_view key, const Bson& array) {
  bson_append_array(&document_, key.data(), size_of(key), &array.document_);
  return *this;
}

Bson& Bson::add_bytes(std::string_view key, std::string_view bytes) {
  const char* const data = bytes.empty() ? "" : bytes.data();
  bson_append_binary(&document_, key.data(), size_of(key), BSON_SUBTYPE_BINARY,
                     reinterpret_cast<const std::uint8_t*>(data),
                     static_cast<std::uint32_t>(bytes.size()));
  return *this;
}

Bson& Bson::add_literal(std::string_view key, std::string_view text) {
  Bson literal;
  literal.add("$literal", text);
  return add(key, literal);
}

std::string Bson::next_key() { return std::to_string(elements_++); }

Bson& Bson::push(const Bson& document) { return add(next_key(), document); }

Bson& Bson::push(std::string_view text) { return add(next_key(), text); }

Bson& Bson::push_all(const Bson& array) {
  bson_iter_t place;
  if (bson_iter_init(&place, &array.document_)) {
    while (bson_iter_next(&place)) {
      const std::string key = next_key();
      bson_append_iter(&document_, key.c_str(), size_of(key), &place);
    }
  }
  return *this;
}

std::optional<BsonValue> Bson::find(std::string_view key) const {
  BsonElements elements;
  return bson_iter_init(&elements.place_, &document_) ? elements.find(key) : std::nullopt;
}

bson_t* Bson::reset() noexcept {
  bson_destroy(&document_);
  elements_ = 0;
  return &document_;
}

}  // namespace holdfast::engines::mongodb::internal

// NOLINTEND(bugprone-suspicious-stringview-data-usage)
