// Stops the compilation where Boost is too old, with a reason that can be acted on.
#pragma once

#include <boost/version.hpp>

#if BOOST_VERSION < 107700
#error "holdfast/async needs Boost 1.77 or later (cancellation slots in Boost.Asio)."
#endif
