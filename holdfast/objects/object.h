#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace holdfast::objects {

class ObjectHost;

namespace internal {
struct Activation;
}  // namespace internal

// What an ObjectHost keeps: derive from it, and give it methods.
//
// Several calls of one object may run at once, and `to_data` beside them: the object guards its own
// state, unless its type is registered as Calls::serial, where one method or `to_data` runs at a
// time. The hooks run alone, before the first call or after the last one.
//
// Owned by its host, which makes and destroys it. A destructor may not call the host. What a
// constructor, hook or method throws becomes an error of the call (ErrorCode::failed); a
// base::Exception keeps its own code.
//
//   class Counter : public Object {
//     json to_data() const override { return {{"value", value_.load()}}; }  …
class Object {
 public:
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Everything that `from_data` needs to make a new object equal to this one. Neither may call the
  // host.
  [[nodiscard]] virtual nlohmann::json to_data() const = 0;
  // Also takes an object in use back to what it was: see ObjectHost::together.
  virtual void from_data(const nlohmann::json& data) = 0;

  // Once in the life of an object, before its first call: nothing was stored under its id. What it
  // throws undoes the creation.
  virtual void on_created() {}
  // Each time that it comes back from the store, after `from_data`.
  virtual void on_loaded() {}
  // Before it is erased, while it can still be called nowhere else; not for an object that is only
  // stored. What it throws keeps the object.
  virtual void on_deleting() {}

 protected:
  Object() = default;

  // These are there from the first hook on, not yet in the constructor.
  [[nodiscard]] std::string_view id() const;
  [[nodiscard]] ObjectHost& host() const;
  // The next save is to save it. The host does this by itself after each method that is not const.
  // From a method or hook of this object.
  void mark_changed();

 private:
  friend struct internal::Activation;
  internal::Activation* activation_ = nullptr;
};

}  // namespace holdfast::objects
