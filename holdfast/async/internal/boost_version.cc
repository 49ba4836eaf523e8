#include <holdfast/async/internal/boost_version.h>
