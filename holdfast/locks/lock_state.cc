#include <holdfast/locks/lock_state.h>

#include <ostream>

namespace holdfast::locks {

std::string_view to_string(LockState state) noexcept {
  switch (state) {
    case LockState::acquired: return "acquired";
    case LockState::extending: return "extending";
    case LockState::lost: return "lost";
    case LockState::released: return "released";
  }
  return "unrecognised";
}

std::ostream& operator<<(std::ostream& out, LockState state) { return out << to_string(state); }

}  // namespace holdfast::locks
