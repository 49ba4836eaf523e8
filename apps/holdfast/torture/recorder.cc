#include "apps/holdfast/torture/recorder.h"

namespace holdfast::cli::torture {

void Recorder::take(const Message& message) {
  using Event = Message::Event;
  switch (message.event) {
    case Event::granted: return begin_hold(message);
    case Event::still:
    case Event::ended: return end_hold(message);
    case Event::updated:
      ++(message.acknowledged ? counts_.updated : counts_.refused);
      history_.updates.push_back({.worker = message.worker,
                                  .name = message.name,
                                  .write = message.write,
                                  .time = since_begin(message.time),
                                  .acknowledged = message.acknowledged,
                                  .held_afterwards = message.held_afterwards});
      return;
    case Event::busy: ++counts_.busy; return;
    case Event::failed: break;
  }
  ++counts_.failed;
  constexpr std::size_t kMostErrors = 100;
  const std::string text(message.text.data());
  if (errors_.contains(text) || errors_.size() < kMostErrors) {
    ++errors_[text];
  }
}

void Recorder::begin_hold(const Message& message) {
  ++counts_.granted;
  open_[message.worker] = history_.holds.size();
  history_.holds.push_back({.worker = message.worker,
                            .name = message.name,
                            .permits = message.permits,
                            .token = message.token,
                            .asked = since_begin(message.asked),
                            .granted = since_begin(message.time),
                            .sure = since_begin(message.sure)});
}

void Recorder::end_hold(const Message& message) {
  const auto found = open_.find(message.worker);
  if (found == open_.end()) {
    return;
  }
  Hold& hold = history_.holds[found->second];
  hold.sure = since_begin(message.sure);
  if (message.event == Message::Event::ended) {
    hold.end = message.end;
    hold.ended = since_begin(message.time);
    counts_.lost += hold.end == End::lost ? 1U : 0U;
    open_.erase(found);
  }
}

void Recorder::worker_ended(std::uint32_t worker, base::TimePoint when) {
  if (const auto found = open_.find(worker); found != open_.end()) {
    history_.holds[found->second].end = End::killed;
    history_.holds[found->second].ended = since_begin(when);
    open_.erase(found);
  }
}

}  // namespace holdfast::cli::torture
