#pragma once

#include <cstddef>

#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <holdfast/base/intrusive_list.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>

namespace holdfast::async::internal {

class WaiterQueue;

// An operation that will be resumed in an execution context.
class ContextMember {
 public:
  ContextMember() = default;
  ContextMember(const ContextMember&) = delete;
  ContextMember& operator=(const ContextMember&) = delete;

  // Called under the mutex of ContextMembers, when the context ends. Returns false if another
  // thread is about to resume and remove it. Adds waiters that may enter in its place to `let_in`.
  [[nodiscard]] virtual bool withdraw(WaiterQueue& let_in) noexcept = 0;
  // Called next, without the mutex: destroys the handler, which is never called.
  virtual void drop() noexcept = 0;

  base::ListHook<ContextMember> seat;  // used by ContextMembers, under its mutex

 protected:
  ~ContextMember() = default;
};

// The operations that will be resumed in one execution context (an io_context, a thread_pool). When
// the context ends they are dropped, while it can still accept their posts; nothing is posted to it
// afterwards. In a forked child it does nothing: the operations belong to the parent's threads.
//
// Thread-safe. Its mutex is taken before that of a shard of keys, never after.
class ContextMembers final : public boost::asio::execution_context::service {
 public:
  using key_type = ContextMembers;
  static boost::asio::execution_context::id id;  // identifies the service, by its address

  explicit ContextMembers(boost::asio::execution_context& context) : service(context) {}

  // Returns the members of this executor's context; null if it has no execution context that could
  // be destroyed.
  template <class Executor>
  [[nodiscard]] static ContextMembers* of(const Executor& executor) {
    using Context = boost::asio::execution::context_as_t<boost::asio::execution_context&>;
    if constexpr (boost::asio::can_query_v<const Executor&, Context>) {
      return &boost::asio::use_service<ContextMembers>(boost::asio::query(executor, Context()));
    } else {
      return nullptr;
    }
  }

  void add(ContextMember& member);
  void remove(ContextMember& member) noexcept;
  // Removes the member and resumes it; the context does not end meanwhile.
  template <class Member>
  void resume(Member& member) noexcept {
    begin_resuming(member);
    member.resume();
    end_resuming();
  }

 private:
  void begin_resuming(ContextMember& member) noexcept;
  void end_resuming() noexcept;
  void shutdown() noexcept override;

  const base::ProcessMark process_;
  base::Mutex mutex_;
  base::ConditionVariable left_;
  base::IntrusiveList<ContextMember, &ContextMember::seat> members_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t resuming_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::async::internal
