#include <holdfast/engines/redis/internal/submitter.h>

#include <utility>

#include <holdfast/engines/redis/internal/acknowledged.h>

namespace holdfast::engines::redis::internal {

using base::Deadline;
using base::Name;

template <class T>
void Submitter::submit(Deadline deadline, Callback<T> callback, const auto& make) {
  if (auto ours = requests_.connection->check_process(); !ours) {
    callback(std::unexpected(std::move(ours).error()));
    return;
  }
  Request<T> request = make();
  requests_.connection->submit(
      std::move(request.command), deadline,
      [read = std::move(request.read), callback = std::move(callback)](base::Result<Reply> reply) {
        callback(read(std::move(reply)));
      });
}

template <class T>
Submitter::Callback<T> Submitter::acknowledging(Acknowledger::Lease lease, Deadline deadline,
                                                Callback<T> callback) {
  return [&requests = requests_, lease = std::move(lease), deadline,
          callback = std::move(callback)](base::Result<T> outcome) {
    acknowledge(requests, lease, std::move(outcome), deadline, callback);
  };
}

void Submitter::start_claim(const Name& name, const store::Claim& claim, Deadline deadline,
                            Callback<store::ClaimOutcome> callback) {
  if (requests_.acknowledger != nullptr) {
    callback = acknowledging({name, claim.id, claim.ttl}, deadline, std::move(callback));
  }
  submit(deadline, std::move(callback), [&] { return requests_.claim(name, claim); });
}

void Submitter::start_transfer(const Name& name, const base::LeaseId& from, const store::Claim& to,
                               Deadline deadline, Callback<store::TransferOutcome> callback) {
  if (requests_.acknowledger != nullptr) {
    callback = acknowledging({name, to.id, to.ttl}, deadline, std::move(callback));
  }
  submit(deadline, std::move(callback), [&] { return requests_.transfer(name, from, to); });
}

void Submitter::start_release(const Name& name, const base::LeaseId& id, Deadline deadline,
                              Callback<store::ReleaseOutcome> callback) {
  submit(deadline, std::move(callback), [&] { return requests_.release(name, id); });
}

void Submitter::start_look(const Name& name, Deadline deadline,
                           Callback<std::optional<store::NameState>> callback) {
  submit(deadline, std::move(callback), [&] { return requests_.look(name); });
}

void Submitter::start_hit(const Name& name, const store::Hit& hit, Deadline deadline,
                          Callback<store::HitOutcome> callback) {
  submit(deadline, std::move(callback), [&] { return requests_.hit(name, hit); });
}

}  // namespace holdfast::engines::redis::internal
