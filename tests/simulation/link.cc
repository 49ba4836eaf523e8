#include <tests/simulation/link.h>

#include <algorithm>
#include <utility>

#include <tests/simulation/names.h>

namespace holdfast::simulation {

namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

}  // namespace

base::Duration Link::latency(std::uint64_t subject) const noexcept {
  return Random(mix(world_.setting.seed ^ 0x1a7e, subject))
      .between(world_.setting.latency / 10, world_.setting.latency);
}

base::Duration Link::delay(Fault fault, std::uint64_t subject, Call* call) {
  const FaultId id = world_.faults.draw(fault, subject, world_.setting.weather.delays);
  if (id == 0) {
    return {};
  }
  if (call != nullptr) {
    call->faults.emplace_back(fault, id);
  } else {
    world_.faults.hit(fault, id);
  }
  return Random(mix(world_.setting.seed ^ 0xde1a, subject))
      .of_any_size(world_.setting.latency, world_.setting.weather.longest_delay);
}

void Link::send(Request request, base::TimePoint deadline, Reply reply) {
  const auto call =
      std::make_shared<Call>(Call{std::move(reply), request.kind, request.renewals.size()});
  calls_.push_back(call);
  const std::uint64_t subject = next_subject();
  const Weather& weather = world_.setting.weather;
  if (is_abandoned_ || cut_ == Cut::refused || !server_.is_up()) {
    world_.faults.hit(cut_by_, cut_id_);
    fail_soon(call, ErrorCode::unavailable, "the server is out of reach", deadline);
    return;
  }
  const bool has_deadline = !world_.has(Bug::request_without_a_deadline);
  if (has_deadline && deadline != base::TimePoint::max()) {
    world_.timeline.at(deadline, &process_, [this, call] {
      if (call->reply) {
        lose_connection();
        finish(call, failure(call->kind, ErrorCode::unknown_outcome, "no reply by the deadline"));
      }
    });
  }
  if (const FaultId id = world_.faults.draw(Fault::store_throws, subject, weather.throws);
      id != 0 && request.kind != Step::Kind::watch) {
    world_.faults.hit(Fault::store_throws, id);
    world_.timeline.after(latency(subject), &process_,
                          [this, call] { finish(call, std::nullopt); });
    if (subject % 2 == 0) {
      return;  // else the request has been sent
    }
  }
  if (const FaultId id = world_.faults.draw(Fault::connection_reset, subject, weather.resets)) {
    world_.faults.hit(Fault::connection_reset, id);
    fail_soon(call, ErrorCode::unknown_outcome, "the connection was reset");
    lose_connection();
    if (subject % 2 == 0) {
      return;
    }
  }
  if (const FaultId id = world_.faults.draw(Fault::request_lost, subject, weather.losses)) {
    call->faults.emplace_back(Fault::request_lost, id);
    return;
  }
  base::TimePoint when =
      world_.timeline.now() + latency(subject) + delay(Fault::request_delayed, subject, call.get());
  if (!world_.setting.is_pooled) {
    when = request_arrives_ = std::max(when, request_arrives_);
  }
  if (const FaultId id =
          world_.faults.draw(Fault::request_duplicated, subject, weather.duplicates)) {
    const base::Duration later = Random(mix(world_.setting.seed ^ 0xd0b1, subject))
                                     .of_any_size(world_.setting.latency, weather.longest_delay);
    world_.timeline.at(when + later, &server_, [this, request, subject, id]() mutable {
      if (server_.is_up() && cut_ == Cut::no) {
        world_.faults.hit(Fault::request_duplicated, id);
        static_cast<void>(handle(request, subject, Caller::is_gone));
      }
    });
  }
  world_.timeline.at(when, &server_, [this, call, subject, request = std::move(request)]() mutable {
    arrive(call, request, subject);
  });
}

// A message does not pass a cut.
bool Link::loses(const CallPtr& call) {
  if (cut_ == Cut::no) {
    return false;
  }
  call->faults.emplace_back(cut_by_, cut_id_);
  if (cut_ == Cut::refused) {
    fail_soon(call, ErrorCode::unknown_outcome, "the connection was lost");
  }
  return true;
}

void Link::arrive(const CallPtr& call, Request& request, std::uint64_t subject) {
  if (loses(call)) {
    return;
  }
  if (!server_.is_up()) {
    fail_soon(call, ErrorCode::unknown_outcome, "the server has closed the connection");
    return;
  }
  Answer answer = handle(request, subject, call->reply ? Caller::waits : Caller::is_gone);
  reply_to(call, subject, std::move(answer));
}

Answer Link::handle(Request& request, std::uint64_t subject, Caller caller) {
  last_handled_ = world_.timeline.now();
  const bool may_grant = request.kind == Step::Kind::claim || request.kind == Step::Kind::transfer;
  if (may_grant && caller == Caller::is_gone && request.name < kAcquired) {
    late_.insert(request.claim.id);
  }
  const double refusals = world_.setting.weather.refusals;
  if (request.kind == Step::Kind::renew && refusals > 0) {
    if (const FaultId id = world_.faults.draw(Fault::record_refused, subject, refusals)) {
      world_.faults.hit(Fault::record_refused, id);
      const std::size_t which = subject % request.renewals.size();
      Request others = request;
      others.renewals.erase(others.renewals.begin() + static_cast<std::ptrdiff_t>(which));
      if (others.renewals.empty()) {
        return failure(request.kind, ErrorCode::corrupt, "the record is damaged");
      }
      Answer answer = server_.handle(others);
      auto& outcomes = *std::get<base::Result<std::vector<store::RenewOutcome>>>(answer);
      outcomes.insert(outcomes.begin() + static_cast<std::ptrdiff_t>(which),
                      store::RenewOutcome::failed);
      return answer;
    }
  }
  return server_.handle(request);
}

void Link::reply_to(const CallPtr& call, std::uint64_t subject, Answer answer) {
  const Weather& weather = world_.setting.weather;
  if (const FaultId id = world_.faults.draw(Fault::reply_lost, subject, weather.losses)) {
    call->faults.emplace_back(Fault::reply_lost, id);
    return;
  }
  base::TimePoint when =
      world_.timeline.now() + latency(~subject) + delay(Fault::reply_delayed, subject, call.get());
  if (!world_.setting.is_pooled) {
    when = reply_arrives_ = std::max(when, reply_arrives_);
  }
  world_.timeline.at(when, &process_, [this, call, answer = std::move(answer)]() mutable {
    if (call->reply && !loses(call)) {
      call->faults.clear();  // it has come in time
      finish(call, std::move(answer));
    }
  });
}

void Link::finish(const CallPtr& call, std::optional<Answer> answer) {
  if (!call->reply) {
    return;
  }
  for (const auto& [fault, id] : call->faults) {
    world_.faults.hit(fault, id);
  }
  std::erase(calls_, call);
  Reply reply = std::exchange(call->reply, nullptr);
  reply(std::move(answer));
}

void Link::fail_soon(const CallPtr& call, ErrorCode code, const char* why,
                     base::TimePoint deadline) {
  world_.timeline.at(std::min(world_.timeline.now() + world_.setting.latency / 2, deadline),
                     &process_,
                     [this, call, code, why] { finish(call, failure(call->kind, code, why)); });
}

// The next request goes over a new connection, and waits for nothing on the old one.
void Link::lose_connection() noexcept {
  request_arrives_ = world_.timeline.now();
  reply_arrives_ = world_.timeline.now();
}

void Link::publish(int name, const store::Notice& notice) {
  const std::uint64_t subject = next_subject();
  const Weather& weather = world_.setting.weather;
  if (is_abandoned_ || cut_ != Cut::no) {
    world_.faults.hit(cut_by_, cut_id_);
    return;
  }
  if (const FaultId id = world_.faults.draw(Fault::notice_lost, subject, weather.notices)) {
    world_.faults.hit(Fault::notice_lost, id);
    return;
  }
  base::TimePoint when = world_.timeline.now() + latency(subject);
  if (const FaultId id = world_.faults.draw(Fault::notice_delayed, subject, weather.notices)) {
    world_.faults.hit(Fault::notice_delayed, id);
    when += Random(mix(world_.setting.seed ^ 0xde1a, subject))
                .of_any_size(world_.setting.latency, weather.longest_delay);
  }
  when = notice_arrives_ = std::max(when, notice_arrives_);
  const auto arrive = [this, name, notice] {
    if (cut_ == Cut::no) {
      on_notice_(name, notice);
    }
  };
  world_.timeline.at(when, &process_, arrive);
  if (const FaultId id = world_.faults.draw(Fault::notice_duplicated, subject, weather.notices)) {
    world_.faults.hit(Fault::notice_duplicated, id);
    world_.timeline.at(when + latency(~subject) * 10, &process_, arrive);
  }
}

void Link::cut(Cut how, Fault fault, FaultId id) noexcept {
  cut_ = how;
  cut_by_ = fault;
  cut_id_ = id;
}

void Link::abandon() {
  is_abandoned_ = true;
  for (const CallPtr& call : calls_) {
    fail_soon(call, ErrorCode::unavailable, "the history is over");
  }
}

bool Link::has_calls() const noexcept { return !calls_.empty(); }

}  // namespace holdfast::simulation
