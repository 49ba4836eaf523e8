#include <holdfast/async/throttle.h>

namespace holdfast::async {

namespace {

std::shared_ptr<const recipes::ThrottleOptions> checked(recipes::ThrottleOptions options) {
  check(options);
  return std::make_shared<const recipes::ThrottleOptions>(std::move(options));
}

std::shared_ptr<const recipes::ThrottleOptions> with_clock(recipes::ThrottleOptions options,
                                                           const base::Clock& clock) {
  options.clock = &clock;
  return checked(std::move(options));
}

std::shared_ptr<internal::EngineRoom> make_room(std::shared_ptr<store::LeaseStore> store,
                                                const base::Clock& clock, const AsyncOptions& how) {
  if (store == nullptr) {
    base::throw_error({base::ErrorCode::invalid_argument, "the store is null"});
  }
  store::LeaseStore& asked = *store;
  return internal::EngineRoom::make(std::move(store), asked, clock, how);
}

}  // namespace

AsyncThrottle::AsyncThrottle(const AsyncLockProvider& provider, recipes::ThrottleOptions options)
    : options_(with_clock(std::move(options), provider.clock())), room_(provider.room()) {}

AsyncThrottle::AsyncThrottle(std::shared_ptr<store::LeaseStore> store,
                             recipes::ThrottleOptions options, const AsyncOptions& how)
    : options_(checked(std::move(options))),
      room_(make_room(std::move(store), *options_->clock, how)) {}

}  // namespace holdfast::async
