#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <bson/bson.h>

#include <holdfast/base/error.h>

namespace holdfast::engines::mongodb::internal {

// A date of MongoDB: milliseconds of the wall clock since 1970.
struct Date {
  std::int64_t milliseconds = 0;

  friend bool operator==(const Date&, const Date&) = default;
};

class BsonElements;

// One value within a document; as long as that lives and is not changed.
class BsonValue {
 public:
  explicit BsonValue(const bson_iter_t& place) : place_(place) {}

  [[nodiscard]] std::string_view key() const { return bson_iter_key(&place_); }
  [[nodiscard]] bool is_null() const { return BSON_ITER_HOLDS_NULL(&place_); }
  // Returns nullopt if the value has another type.
  [[nodiscard]] std::optional<std::string_view> text() const;
  [[nodiscard]] std::optional<std::int64_t> integer() const;  // int or long
  [[nodiscard]] std::optional<double> number() const;         // of any type
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<Date> date() const;
  [[nodiscard]] std::optional<std::string_view> bytes() const;  // binary, of the usual kind
  // The elements of a document or array.
  [[nodiscard]] std::optional<BsonElements> elements() const;
  [[nodiscard]] bool is_array() const { return BSON_ITER_HOLDS_ARRAY(&place_); }

  [[nodiscard]] std::optional<BsonValue> find(std::string_view key) const;

 private:
  bson_iter_t place_;
};

// The elements of a document or array, one after the other; as long as that lives and is not
// changed. An object, because std::optional<bson_iter_t> would lose the alignment of libbson's
// type.
class BsonElements {
 public:
  // Returns nothing after the last one.
  [[nodiscard]] std::optional<BsonValue> next();
  // Returns the next one that has this key; nothing if there is none.
  [[nodiscard]] std::optional<BsonValue> find(std::string_view key);

 private:
  friend class Bson;
  friend class BsonValue;

  bson_iter_t place_;
};

// A BSON document, or an array, that is built from its front to its end. Move-only.
//
//   Bson command;
//   command.add("ping", 1).add("comment", "why");
class Bson {
 public:
  Bson() { bson_init(&document_); }
  ~Bson() { bson_destroy(&document_); }
  Bson(Bson&& other) noexcept;
  Bson& operator=(Bson&& other) noexcept;
  Bson(const Bson&) = delete;
  Bson& operator=(const Bson&) = delete;

  // From JSON of our own, which is known to be good; a std::logic_error if it is not.
  [[nodiscard]] static Bson parse(std::string_view json);

  Bson& add(std::string_view key, std::string_view text);
  Bson& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  Bson& add(std::string_view key, std::int32_t number);
  Bson& add(std::string_view key, std::int64_t number);
  Bson& add(std::string_view key, bool value);
  Bson& add(std::string_view key, Date date);
  Bson& add(std::string_view key, const Bson& document);
  Bson& add_array(std::string_view key, const Bson& array);
  Bson& add_bytes(std::string_view key, std::string_view bytes);
  // {key: {$literal: text}}: a text that is no expression, whatever it begins with.
  Bson& add_literal(std::string_view key, std::string_view text);
  // Appends to an array; they count their elements themselves.
  Bson& push(const Bson& document);
  Bson& push(std::string_view text);
  Bson& push_all(const Bson& array);

  [[nodiscard]] std::optional<BsonValue> find(std::string_view key) const;
  [[nodiscard]] const bson_t* get() const noexcept { return &document_; }
  // For functions of the driver that fill it in: it must be empty, and is theirs until they return.
  [[nodiscard]] bson_t* reset() noexcept;

 private:
  std::string next_key();

  bson_t document_{};
  std::uint32_t elements_ = 0;
};

}  // namespace holdfast::engines::mongodb::internal
