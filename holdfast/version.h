#pragma once

#if __cplusplus < 202100L
#error \
    "Holdfast needs C++23: compile with -std=c++23 (CMake: target_compile_features(... cxx_std_23))"
#endif

// The version of these headers. Until 1.0 a minor version may change the API.
#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 2
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION "0.2.0"
