// Stops the compilation if Boost is too old, with a message that says what to do.
#pragma once

#include <boost/version.hpp>

#if BOOST_VERSION < 107700
#error "holdfast/async needs Boost 1.77 or later (cancellation slots in Boost.Asio)."
#endif
