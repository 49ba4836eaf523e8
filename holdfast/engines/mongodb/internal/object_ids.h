#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/store/object_repository.h>

namespace holdfast::engines::mongodb::internal {

// The _ids of objects: the prefix, the number of the type's bytes, the type and the id.
//
//   type, id          _id
//   order, 17         5:order:17
//   order, \xff       5:order:ÿ
//
// Bytes from 0x80 on stand for the characters of that number, so that any bytes make valid UTF-8,
// and the _ids of a type are in the order of the bytes of their ids.
//
// Thread-safe: constant.
class ObjectIds {
 public:
  explicit ObjectIds(std::string prefix) : prefix_(std::move(prefix)) {}

  // Returns the bytes that begin the _ids of all objects of a type whose ids begin with `bytes`.
  [[nodiscard]] std::string beginning(std::string_view type, std::string_view bytes) const;
  [[nodiscard]] std::string id_of(const store::ObjectKey& key) const {
    return beginning(key.type, key.id);
  }
  // Greater than all that begin with this beginning, and than none that comes after those.
  [[nodiscard]] static std::string end_of(std::string_view beginning);

  // The id of an object of this type; nothing if the _id is none.
  [[nodiscard]] std::optional<std::string> object_of(std::string_view type,
                                                     std::string_view id) const;

 private:
  const std::string prefix_;
};

}  // namespace holdfast::engines::mongodb::internal
