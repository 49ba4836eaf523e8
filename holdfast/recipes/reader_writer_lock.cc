#include <holdfast/recipes/reader_writer_lock.h>

#include <utility>

namespace holdfast::recipes {

namespace {

using locks::AcquireOptions;
using locks::Lock;
using store::Permits;

}  // namespace

ReaderWriterLock::ReaderWriterLock(locks::LockProvider& provider, std::string name)
    : provider_(provider), name_(std::move(name)) {}

Lock ReaderWriterLock::acquire_shared(const AcquireOptions& options) {
  return provider_.acquire(name_, as_reader(options));
}

base::Result<std::optional<Lock>> ReaderWriterLock::try_acquire_shared(
    const AcquireOptions& options) {
  return provider_.try_acquire(name_, as_reader(options));
}

Lock ReaderWriterLock::acquire_exclusive(const AcquireOptions& options) {
  return provider_.acquire(name_, as_writer(options));
}

base::Result<std::optional<Lock>> ReaderWriterLock::try_acquire_exclusive(
    const AcquireOptions& options) {
  return provider_.try_acquire(name_, as_writer(options));
}

base::Result<void> ReaderWriterLock::downgrade(Lock& lock) {
  return lock.reduce(Permits::reader().count);
}

}  // namespace holdfast::recipes
