#pragma once

#include <cstdint>
#include <string_view>

#include <holdfast/objects/internal/lock_order.h>

namespace holdfast::objects::internal {

struct Activation;
struct ObjectType;

// The kind of user code that runs in this thread at this moment.
enum class Doing : std::uint8_t {
  call,      // a method, under the shared key and, if serial, the turn
  hook,      // the constructor (without activation) and on_…, under the exclusive key
  data,      // to_data, from_data
  together,  // the work of `together`, under the exclusive key
};

// One object that this thread works on. Frames form a chain per thread, innermost first: a method
// that calls another object adds one. A frame lives on the stack of the host's operation.
class Frame {
 public:
  Frame() noexcept = default;
  ~Frame() { leave(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // `id` must outlive the frame.
  void enter(const void* host, const ObjectType& type, std::string_view id, Activation* activation,
             Doing doing);
  void leave() noexcept;

  [[nodiscard]] std::string_view id() const noexcept { return id_; }
  [[nodiscard]] Activation* activation() const noexcept { return activation_; }
  [[nodiscard]] Doing doing() const noexcept { return doing_; }

  // Return the innermost frame of this thread, of this host and of this object.
  [[nodiscard]] static const Frame* innermost(const void* host) noexcept;
  [[nodiscard]] static const Frame* of(const ObjectType& type, std::string_view id) noexcept;

 private:
  const void* host_ = nullptr;  // null: not entered
  const ObjectType* type_ = nullptr;
  std::string_view id_;
  Activation* activation_ = nullptr;
  Doing doing_ = Doing::call;
  Frame* outer_ = nullptr;
  Ranked order_;
};

}  // namespace holdfast::objects::internal
