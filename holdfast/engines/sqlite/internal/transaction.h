#pragma once

#include <type_traits>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/statement.h>

namespace holdfast::engines::sqlite::internal {

// Runs work on a connection all or nothing, with the write lock from its beginning to its end.
class Transactions {
 public:
  explicit Transactions(Connection& connection) noexcept;

  // `work()` returns a Result; where it fails, nothing is changed. ErrorCode::unknown_outcome if
  // the disk failed while the change was being written: it may show when the file is next
  // recovered.
  template <class Work>
  std::invoke_result_t<Work> run(Work&& work) {
    if (auto begun = begin(); !begun) [[unlikely]] {
      return std::unexpected(std::move(begun).error());
    }
    const AtEnd at_end(*this);
    auto result = std::forward<Work>(work)();
    if (!result) [[unlikely]] {
      return result;
    }
    if (auto committed = commit(); !committed) [[unlikely]] {
      return std::unexpected(std::move(committed).error());
    }
    return result;
  }

  // Returns whether the disk was full at the last commit since the last call.
  [[nodiscard]] bool take_was_full() noexcept { return std::exchange(was_full_, false); }

 private:
  // Leaves no transaction open, even where the work throws.
  class AtEnd {
   public:
    explicit AtEnd(Transactions& transactions) noexcept : transactions_(transactions) {}
    ~AtEnd() { transactions_.roll_back_if_open(); }
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;

   private:
    Transactions& transactions_;
  };

  base::Result<void> begin();
  base::Result<void> commit();
  void roll_back_if_open();

  Connection& connection_;
  bool was_full_ = false;
  Statement begin_;
  Statement commit_;
  Statement roll_back_;
};

}  // namespace holdfast::engines::sqlite::internal
