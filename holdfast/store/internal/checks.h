#pragma once

#include <holdfast/base/error.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>

// What every engine refuses, whichever way it is asked.
namespace holdfast::store::internal {

[[nodiscard]] base::Result<void> check_ttl(base::Ttl ttl);
[[nodiscard]] base::Result<void> check_claim(const Claim& claim);
[[nodiscard]] base::Result<void> check_hit(const Hit& hit);

}  // namespace holdfast::store::internal
