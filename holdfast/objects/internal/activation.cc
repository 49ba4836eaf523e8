#include <holdfast/objects/internal/activation.h>

#include <utility>

#include <holdfast/objects/internal/host_core.h>

namespace holdfast::objects::internal {

std::unique_ptr<Activation> Activation::make(HostCore& host, ObjectType& type,
                                             std::string_view id) {
  std::string text(id);
  void* const block = type.blocks.allocate();
  const bool fits = host.active.fetch_add(1) < host.options.max_objects;
  std::unique_ptr<Activation> made(new (block) Activation(host, type, std::move(text)));
  return fits ? std::move(made) : nullptr;
}

void Activation::make_object() {
  object = type.make(this + 1);
  if (object != nullptr) object->activation_ = this;
}

Activation::~Activation() {
  // First: this waits for a running callback, which uses the other members.
  if (lease != nullptr) lease->on_lost.reset();
  if (type.room == 0) {
    delete object;
  } else if (object != nullptr) {
    object->~Object();
  }
  --host.active;
}

void Activation::operator delete(Activation* activation, std::destroying_delete_t) {
  BlockPool& blocks = activation->type.blocks;
  activation->~Activation();
  blocks.free(activation);
}

}  // namespace holdfast::objects::internal
