#pragma once

#include <holdfast/base/error.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>

// The arguments that every engine refuses, blocking or not.
namespace holdfast::store::internal {

[[nodiscard]] base::Result<void> check_ttl(base::Ttl ttl);
[[nodiscard]] base::Result<void> check_claim(const Claim& claim);
[[nodiscard]] base::Result<void> check_hit(const Hit& hit);

}  // namespace holdfast::store::internal
