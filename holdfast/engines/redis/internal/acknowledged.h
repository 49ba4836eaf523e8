#pragma once

#include <functional>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/acknowledger.h>
#include <holdfast/engines/redis/internal/lease_requests.h>
#include <holdfast/store/outcome.h>

// The outcomes of claims and transfers with RedisOptions::ack: for requests that have an
// acknowledger. If there is no grant, an outcome is what it was.
namespace holdfast::engines::redis::internal {

// Return the outcome once enough replicas have the lease that was granted. They block until then,
// or until the deadline. If the replicas do not have it in time:
//
//  - a claim is released, and unavailable; or unknown_outcome, if it could not be released. The
//    release may take half a second from the deadline;
//  - a transfer is unknown_outcome: the new lease is there, and the old one is not.
[[nodiscard]] base::Result<store::ClaimOutcome> acknowledged(
    LeaseRequests& requests, const Acknowledger::Lease& lease,
    base::Result<store::ClaimOutcome> outcome, base::Deadline deadline);
[[nodiscard]] base::Result<store::TransferOutcome> acknowledged(
    LeaseRequests& requests, const Acknowledger::Lease& lease,
    base::Result<store::TransferOutcome> outcome, base::Deadline deadline);

// Call back with the same, without blocking.
template <class Outcome>
using OutcomeCallback = std::function<void(base::Result<Outcome> outcome)>;

void acknowledge(LeaseRequests& requests, const Acknowledger::Lease& lease,
                 base::Result<store::ClaimOutcome> outcome, base::Deadline deadline,
                 OutcomeCallback<store::ClaimOutcome> callback);
void acknowledge(LeaseRequests& requests, const Acknowledger::Lease& lease,
                 base::Result<store::TransferOutcome> outcome, base::Deadline deadline,
                 OutcomeCallback<store::TransferOutcome> callback);

}  // namespace holdfast::engines::redis::internal
