// Stores each invoice once: finds exact and near duplicates under locks that exclude every other
// process, and does not start a file that is already being processed.
#include <algorithm>
#include <exception>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <holdfast/engines/open_store.h>

#include "command_line.h"
#include "duplicate_detector.h"
#include "exit_status.h"
#include "file_hash.h"

namespace {

using namespace invoices;
using holdfast::base::ErrorCode;
using holdfast::base::Result;

std::string describe(const Invoice& invoice) {
  return invoice.number + ", " + invoice.vendor + ", " + to_string(invoice.amount) + ", " +
         to_string(invoice.date);
}

std::string describe(const Verdict& verdict) {
  std::string text(to_string(verdict.finding));
  if (verdict.duplicate_of) {
    text += " duplicate of " + describe(*verdict.duplicate_of);
  }
  if (verdict.protection != holdfast::recipes::Protection::full) {
    text += " (protection: " + std::string(to_string(verdict.protection)) + ")";
  }
  return text;
}

int status_of(const holdfast::base::Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument: return kUsage;
    case ErrorCode::unavailable:
    case ErrorCode::unknown_outcome: return kUnavailable;
    default: return kFailed;
  }
}

int status_of(const Result<Verdict>& verdict) {
  if (!verdict) {
    return status_of(verdict.error());
  }
  switch (verdict->finding) {
    case Finding::unique: return kStored;
    case Finding::exact:
    case Finding::near: return kDuplicate;
    case Finding::concurrent:
    case Finding::processing: return kTryAgain;
  }
  return kFailed;
}

int report(const std::string& what, const Result<Verdict>& verdict) {
  if (verdict) {
    std::cout << what + ": " + describe(*verdict) + '\n';
  } else {
    std::cerr << what + ": " + to_string(verdict.error()) + '\n';
  }
  return status_of(verdict);
}

Result<Verdict> upload(DuplicateDetector& detector, const Invoice& invoice,
                       const std::string& file) {
  const auto hash = file_hash(file);
  if (!hash) {
    return std::unexpected(hash.error());
  }
  return detector.add(invoice, *hash);
}

int add(DuplicateDetector& detector, const Request& request) {
  std::mutex mutex;
  std::vector<int> statuses;  // protected by mutex
  {
    std::vector<std::jthread> uploads;
    for (const std::string& file : request.files) {
      uploads.emplace_back([&] {
        const auto verdict = upload(detector, request.invoice, file);
        const std::lock_guard guard(mutex);
        statuses.push_back(report(file, verdict));
      });
    }
  }
  return std::ranges::find(statuses, kStored) != statuses.end() ? kStored
                                                                : std::ranges::max(statuses);
}

int list(const std::filesystem::path& database) {
  auto table = InvoiceTable::open(database);
  const auto all = table ? table->all() : std::unexpected(table.error());
  if (!all) {
    std::cerr << to_string(all.error()) << '\n';
    return kUnavailable;
  }
  for (const Invoice& invoice : *all) {
    std::cout << invoice.account << ": " << describe(invoice) << '\n';
  }
  return 0;
}

// Runs the command on the mark of a file.
Result<int> on_mark(DuplicateDetector& detector, const Request& request) {
  const auto hash = file_hash(request.files.front());
  if (!hash) {
    return std::unexpected(hash.error());
  }
  const std::string& account = request.account;
  if (request.command == Command::is_processing) {
    const auto is = detector.is_processing(account, *hash);
    if (!is) {
      return std::unexpected(is.error());
    }
    std::cout << (*is ? "processing\n" : "not being processed\n");
    return *is ? 0 : kNotProcessing;
  }
  const auto changed = request.command == Command::mark_processing
                           ? detector.mark_processing(request.user, account, *hash)
                           : detector.clear_processing(account, *hash);
  return changed ? Result<int>(0) : std::unexpected(changed.error());
}

int run(Request request) {
  if (request.command == Command::list) {
    return list(request.detector.database);
  }
  const auto store = holdfast::engines::open_store(request.store);
  if (!store) {
    std::cerr << to_string(store.error()) << '\n';
    return store.error().code == ErrorCode::invalid_argument ? kUsage : kUnavailable;
  }
  request.detector.logger = holdfast::base::stderr_logger(holdfast::base::LogLevel::warning);
  DuplicateDetector detector(*store, request.detector);
  if (request.command == Command::add) {
    return add(detector, request);
  }
  if (request.command != Command::check) {
    const auto status = on_mark(detector, request);
    if (!status) {
      std::cerr << to_string(status.error()) << '\n';
    }
    return status ? *status : status_of(status.error());
  }
  return report(request.invoice.number, detector.check_for_duplicate(request.invoice));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto told = parse_command_line(argc, argv);
    const auto* const answered = std::get_if<Answered>(&told);
    return answered != nullptr ? answered->status : run(std::get<Request>(told));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return kFailed;
  }
}
