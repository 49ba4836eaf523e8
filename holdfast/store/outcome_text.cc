#include <holdfast/store/outcome_text.h>

#include <ostream>

namespace holdfast::store {

std::string to_string(RenewOutcome outcome) {
  switch (outcome) {
    case RenewOutcome::renewed: return "renewed";
    case RenewOutcome::lost: return "lost";
    case RenewOutcome::failed: break;
  }
  return "failed";
}

std::string to_string(ReleaseOutcome outcome) {
  return outcome == ReleaseOutcome::released ? "released" : "not_held";
}

std::ostream& operator<<(std::ostream& out, RenewOutcome outcome) {
  return out << to_string(outcome);
}

std::ostream& operator<<(std::ostream& out, ReleaseOutcome outcome) {
  return out << to_string(outcome);
}

}  // namespace holdfast::store
