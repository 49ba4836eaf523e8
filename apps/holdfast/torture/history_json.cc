#include <ostream>
#include <string_view>

#include "apps/holdfast/torture/history_json.h"

namespace holdfast::cli::torture {

namespace {

std::string_view to_text(Kind kind) {
  switch (kind) {
    case Kind::mutex: return "mutex";
    case Kind::semaphore: return "semaphore";
    case Kind::reader_writer: break;
  }
  return "reader_writer";
}

std::string_view to_text(End end) {
  switch (end) {
    case End::open: return "open";
    case End::released: return "released";
    case End::lost: return "lost";
    case End::killed: break;
  }
  return "killed";
}

Json permits_of(const LockName& name, std::uint32_t permits) {
  return name.kind == Kind::reader_writer && permits == name.permits ? Json() : Json(permits);
}

Json to_json(const LockName& name) {
  return {{"name", name.text},
          {"kind", to_text(name.kind)},
          {"permits", permits_of(name, name.permits)}};
}

Json to_json(const Hold& hold, const LockName& name) {
  return {{"worker", hold.worker},
          {"name", name.text},
          {"permits", permits_of(name, hold.permits)},
          {"token", hold.token},
          {"asked_ms", to_ms(hold.asked)},
          {"granted_ms", to_ms(hold.granted)},
          {"sure_ms", to_ms(hold.sure)},
          {"ended_ms", to_ms(hold.ended)},
          {"end", to_text(hold.end)}};
}

Json to_json(const Update& update, const LockName& name) {
  return {{"worker", update.worker},
          {"name", name.text},
          {"write", update.write},
          {"time_ms", to_ms(update.time)},
          {"acknowledged", update.acknowledged},
          {"held_afterwards", update.held_afterwards}};
}

Json to_json(const Fault& fault) {
  return {{"fault", fault.what},
          {"target", fault.target},
          {"begin_ms", to_ms(fault.begin)},
          {"end_ms", to_ms(fault.end)}};
}

Json to_json(const Violation& violation, const LockName& name) {
  return {{"rule", violation.rule},
          {"name", name.text},
          {"time_ms", to_ms(violation.time)},
          {"text", violation.text}};
}

Json rulings_of(const Judgement& judgement) {
  Json all = Json::array();
  for (const Ruling& ruling : judgement.rulings) {
    all.push_back(
        {{"rule", ruling.rule}, {"checked", ruling.checked}, {"violations", ruling.violations}});
  }
  return all;
}

template <class Items, class ToJson>
void write_list(std::ostream& out, std::string_view key, const Items& items, ToJson&& to_json_of) {
  out << ",\n\"" << key << "\":[";
  std::string_view between = "\n";
  for (const auto& item : items) {
    out << between << to_json_of(item).text();
    between = ",\n";
  }
  out << "]";
}

}  // namespace

Json to_json(const History& history, const Judgement& judgement) {
  const UpdateCount& updates = judgement.updates;
  Json violations = Json::array();
  for (const Violation& violation : judgement.violations) {
    violations.push_back(to_json(violation, history.names[violation.name]));
  }
  return {{"good", judgement.good()},
          {"fence", history.fenced},
          {"rules", rulings_of(judgement)},
          {"violations", std::move(violations)},
          {"updates", Json{{"acknowledged", updates.acknowledged},
                           {"refused", updates.refused},
                           {"late", updates.late},
                           {"lost", updates.lost}}}};
}

void write_json(std::ostream& out, const History& history, const Judgement& judgement) {
  const auto named = [&](const auto& item) { return to_json(item, history.names[item.name]); };
  out << "{\"judgement\":" << to_json(history, judgement).text();
  write_list(out, "names", history.names, [](const LockName& name) { return to_json(name); });
  write_list(out, "faults", history.faults, [](const Fault& fault) { return to_json(fault); });
  write_list(out, "holds", history.holds, named);
  write_list(out, "updates", history.updates, named);
  out << "}\n";
}

}  // namespace holdfast::cli::torture
