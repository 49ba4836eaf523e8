#include <holdfast/engines/redis/internal/acknowledged.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::Error;
using base::ErrorCode;
using base::Result;

// Returns the end of a release: the claim's own deadline may have come with the grant.
Deadline end_of_release(Deadline deadline) {
  return std::max(deadline, Deadline::after(base::steady_clock(), std::chrono::milliseconds(500)));
}

template <class Outcome>
bool is_grant(const Result<Outcome>& outcome) {
  return outcome && std::holds_alternative<store::Grant>(*outcome);
}

// Returns what a claim comes to that was granted and then released.
Error failure_of_claim(const Error& why, const Result<store::ReleaseOutcome>& released) {
  if (released) {
    return {ErrorCode::unavailable, why.message + "; the lease is released"};
  }
  return {ErrorCode::unknown_outcome,
          why.message +
              "; the lease was granted, and could not be released: " + released.error().message};
}

Error failure_of_transfer(const Error& why) { return {ErrorCode::unknown_outcome, why.message}; }

}  // namespace

Result<store::ClaimOutcome> acknowledged(LeaseRequests& requests, const Acknowledger::Lease& lease,
                                         Result<store::ClaimOutcome> outcome, Deadline deadline) {
  if (!is_grant(outcome)) {
    return outcome;
  }
  const auto done = requests.acknowledger->wait(lease, deadline);
  if (done) {
    return outcome;
  }
  const auto release = requests.release(lease.name, lease.id);
  return std::unexpected(failure_of_claim(
      done.error(),
      release.read(requests.connection->call(release.command, end_of_release(deadline)))));
}

Result<store::TransferOutcome> acknowledged(LeaseRequests& requests,
                                            const Acknowledger::Lease& lease,
                                            Result<store::TransferOutcome> outcome,
                                            Deadline deadline) {
  if (!is_grant(outcome)) {
    return outcome;
  }
  if (const auto done = requests.acknowledger->wait(lease, deadline); !done) {
    return std::unexpected(failure_of_transfer(done.error()));
  }
  return outcome;
}

void acknowledge(LeaseRequests& requests, const Acknowledger::Lease& lease,
                 Result<store::ClaimOutcome> outcome, Deadline deadline,
                 OutcomeCallback<store::ClaimOutcome> callback) {
  if (!is_grant(outcome)) {
    callback(std::move(outcome));
    return;
  }
  requests.acknowledger->submit(
      lease, deadline,
      [&requests, lease, outcome = std::move(outcome), deadline,
       callback = std::move(callback)](Result<void> done) {
        if (done) {
          callback(outcome);
          return;
        }
        auto release = requests.release(lease.name, lease.id);
        requests.connection->submit(
            std::move(release.command), end_of_release(deadline),
            [read = std::move(release.read), why = std::move(done).error(),
             callback](Result<Reply> reply) {
              callback(std::unexpected(failure_of_claim(why, read(std::move(reply)))));
            });
      });
}

void acknowledge(LeaseRequests& requests, const Acknowledger::Lease& lease,
                 Result<store::TransferOutcome> outcome, Deadline deadline,
                 OutcomeCallback<store::TransferOutcome> callback) {
  if (!is_grant(outcome)) {
    callback(std::move(outcome));
    return;
  }
  requests.acknowledger->submit(
      lease, deadline,
      [outcome = std::move(outcome), callback = std::move(callback)](const Result<void>& done) {
        callback(done ? outcome
                      : Result<store::TransferOutcome>(
                            std::unexpected(failure_of_transfer(done.error()))));
      });
}

}  // namespace holdfast::engines::redis::internal
