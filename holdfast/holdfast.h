#pragma once

// Everything that most programs need, in the namespace `holdfast`. Objects and coroutines have
// headers of their own, under <holdfast/objects/> and <holdfast/async/>.

// clang-format off: the first, so that an older standard is reported before anything else.
#include <holdfast/version.h>
// clang-format on

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/fence/fence_guard.h>
#include <holdfast/fence/file_guard.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/local/lease_table.h>
#include <holdfast/local/striped_key_lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/open.h>
#include <holdfast/recipes/degradable_provider.h>
#include <holdfast/recipes/leader_election.h>
#include <holdfast/recipes/marker.h>
#include <holdfast/recipes/multi_lock.h>
#include <holdfast/recipes/once.h>
#include <holdfast/recipes/reader_writer_lock.h>
#include <holdfast/recipes/semaphore.h>
#include <holdfast/recipes/throttle.h>
#include <holdfast/store/outcome_text.h>

namespace holdfast {

using base::Error;
using base::ErrorCode;
using base::Exception;
using base::FencingToken;
using base::LeaseId;
using base::Result;

using local::KeyLock;
using local::LeaseTable;
using local::StripedKeyLock;

using locks::AcquireOptions;
using locks::Lock;
using locks::LockProvider;
using locks::ProviderOptions;

using recipes::DegradableProvider;
using recipes::LeaderElection;
using recipes::Marker;
using recipes::MultiLock;
using recipes::Once;
using recipes::ReaderWriterLock;
using recipes::Semaphore;
using recipes::Throttle;

using fence::FenceGuard;
using fence::FileGuard;

}  // namespace holdfast
