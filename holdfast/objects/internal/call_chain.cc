#include <holdfast/objects/internal/call_chain.h>

namespace holdfast::objects::internal {

namespace {

thread_local constinit Frame* top = nullptr;

}  // namespace

void Frame::enter(const void* host, const ObjectType& type, std::string_view id,
                  Activation* activation, Doing doing) {
  order_ = Ranked(host, Rank::user);
  host_ = host;
  type_ = &type;
  id_ = id;
  activation_ = activation;
  doing_ = doing;
  outer_ = top;
  top = this;
}

void Frame::leave() noexcept {
  if (host_ == nullptr) {
    return;
  }
  top = outer_;
  order_.reset();
  host_ = nullptr;
}

const Frame* Frame::innermost(const void* host) noexcept {
  const Frame* frame = top;
  while (frame != nullptr && frame->host_ != host) {
    frame = frame->outer_;
  }
  return frame;
}

const Frame* Frame::of(const ObjectType& type, std::string_view id) noexcept {
  const Frame* frame = top;
  while (frame != nullptr && (frame->type_ != &type || frame->id_ != id)) {
    frame = frame->outer_;
  }
  return frame;
}

}  // namespace holdfast::objects::internal
