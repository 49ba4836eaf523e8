#pragma once

#include <holdfast/testing/provider_face.h>

namespace holdfast::conformance {

// The locks of coroutines: every call is a coroutine that runs to its end on the one thread of an
// io_context.
testing::Face async_face();

}  // namespace holdfast::conformance
