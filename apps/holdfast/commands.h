#pragma once

#include "apps/holdfast/cli/session.h"

namespace holdfast::cli::commands {

// Each returns what the program ends with; each is in the file of its name, in commands/.
int acquire(const Invocation& call);
int bench(const Invocation& call);
int clear(const Invocation& call);
int doctor(const Invocation& call);
int elect(const Invocation& call);
int fence(const Invocation& call);
int hold(const Invocation& call);
int init(const Invocation& call);
int ls(const Invocation& call);
int mark(const Invocation& call);
int marked(const Invocation& call);
int once(const Invocation& call);
int release(const Invocation& call);
int renew(const Invocation& call);
int reset(const Invocation& call);
int run(const Invocation& call);
int schema(const Invocation& call);
int serve(const Invocation& call);
int show(const Invocation& call);
int steal(const Invocation& call);
int throttle(const Invocation& call);
int torture(const Invocation& call);
int wait(const Invocation& call);
int watch(const Invocation& call);
int why(const Invocation& call);

}  // namespace holdfast::cli::commands
