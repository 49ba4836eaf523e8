#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/objects/internal/activator.h>
#include <holdfast/objects/internal/caretaker.h>
#include <holdfast/objects/internal/host_state.h>
#include <holdfast/objects/internal/writer.h>
#include <holdfast/objects/outcome.h>

namespace holdfast::objects::internal {

// The operations of ObjectHost on a type that was found; the contracts are those of ObjectHost.
class HostCore {
 public:
  HostCore(ObjectHost& face, std::shared_ptr<store::ObjectRepository> repository,
           HostOptions options);

  [[nodiscard]] base::Result<CreateOutcome> create(ObjectType& type, std::string_view id);
  [[nodiscard]] base::Result<EraseOutcome> erase(ObjectType& type, std::string_view id);
  [[nodiscard]] base::Result<SaveOutcome> save(ObjectType& type, std::string_view id);
  [[nodiscard]] base::Result<SaveOutcome> deactivate(ObjectType& type, std::string_view id);
  [[nodiscard]] base::Result<std::size_t> save_all();
  [[nodiscard]] base::Result<void> stop(base::Deadline deadline);
  [[nodiscard]] HostStats stats();

  [[nodiscard]] HostState& state() noexcept { return state_; }
  [[nodiscard]] Activator& activator() noexcept { return activator_; }
  [[nodiscard]] Writer& writer() noexcept { return writer_; }

 private:
  // Saves from inside the host; an object's own methods may do so, too.
  [[nodiscard]] base::Result<SaveOutcome> save_inside(ObjectType& type, std::string_view id);
  // Logs the objects that leave memory unsaved; call it when no operation is running.
  void log_lost(const ObjectType& type) const;

  HostState state_;
  Activator activator_;
  Writer writer_;
  Caretaker caretaker_;
  std::mutex stop_mutex_;  // one stop at a time
};

}  // namespace holdfast::objects::internal
