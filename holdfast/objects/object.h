#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace holdfast::objects {

class ObjectHost;

namespace internal {
struct Activation;
}  // namespace internal

// The base class of the objects of an ObjectHost: derive from it, and add methods.
//
// Several calls of one object may run concurrently, and `to_data` at the same time: the object
// guards its own state, unless its type is registered as Calls::serial, where one method or
// `to_data` runs at a time. The hooks run alone, before the first call or after the last one.
//
// Owned by its host, which makes and destroys it. A destructor may not call the host. An exception
// from a constructor, hook or method becomes an error of the call (ErrorCode::failed); a
// base::Exception keeps its own code.
//
//   class Counter : public Object {
//     json to_data() const override { return {{"value", value_.load()}}; }  …
class Object {
 public:
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Returns everything that `from_data` needs to make a new object equal to this one. Neither may
  // call the host.
  [[nodiscard]] virtual nlohmann::json to_data() const = 0;
  // Also restores an earlier state of an object in use: see ObjectHost::together.
  virtual void from_data(const nlohmann::json& data) = 0;

  // Called once in the life of an object, before its first call: nothing was stored under its id.
  // If it throws, the creation is undone.
  virtual void on_created() {}
  // Called each time the object is loaded from the store, after `from_data`.
  virtual void on_loaded() {}
  // Called before the object is erased, when no other call can reach it; not for an object that is
  // only stored. If it throws, the object stays.
  virtual void on_deleting() {}

 protected:
  Object() = default;

  // Available from the first hook on, but not in the constructor.
  [[nodiscard]] std::string_view id() const;
  [[nodiscard]] ObjectHost& host() const;
  // Marks the object for the next save. The host does this itself after each method that is not
  // const. Call it from a method or hook of this object.
  void mark_changed();

 private:
  friend struct internal::Activation;
  internal::Activation* activation_ = nullptr;
};

}  // namespace holdfast::objects
