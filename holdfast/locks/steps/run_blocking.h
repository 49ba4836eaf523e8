#pragma once

#include <stop_token>

#include <holdfast/base/clock.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/waker.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::steps {

// Sends the request of a step to the store; blocks as the store does.
[[nodiscard]] Answer ask(store::LeaseStore& store, const Step& step);

// Drives a procedure from its beginning to its end in the calling thread, and cancels it when
// `stop` is requested. `waker` is the one that the procedure was made with, if it waits. Throws
// what the store throws, after the procedure has released what it may hold.
void run_blocking(Procedure& procedure, const std::stop_token& stop, store::LeaseStore& store,
                  const base::Clock& clock, ThreadWaker& waker);

}  // namespace holdfast::locks::steps
