#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/manual_clock.h>
#include <holdfast/objects/internal/call_scope.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/testing_support.h>

// Support for the tests of the parts of a host.
namespace holdfast::objects::testing {

// The parts of a host with one type, "scripted", over the repository of `face`.
struct CoreTest {
  void start(HostOptions options) {
    core.emplace(face.host, face.repository, std::move(options));
    type = &core->types.add(internal::type_slot<Scripted>(),
                            std::make_unique<internal::ObjectType>(
                                &*core, "scripted", TypeOptions{},
                                [script = face.script](void*) { return new Scripted(script); }));
    base::value_or_throw(core->types.find("scripted"));  // in use from now on
  }
  void change(const std::string& id) {
    internal::CallScope scope(*core, *type, kNoLimits);
    base::value_or_throw(scope.begin(id));
    base::value_or_throw(scope.run(internal::Effect::changes,
                                   [&] { return static_cast<Scripted&>(scope.object()).add(1); }));
  }

  HostTest face;
  base::ManualClock clock;  // for the options, if the test wants it
  std::optional<internal::HostCore> core;
  internal::ObjectType* type = nullptr;
};

}  // namespace holdfast::objects::testing
