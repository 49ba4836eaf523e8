#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include <holdfast/base/duration_text.h>

#include "command_line.h"
#include "exit_status.h"

namespace invoices {

namespace {

using holdfast::base::Duration;
using holdfast::recipes::WhenUnavailable;

// The fields of an invoice as typed.
struct Typed {
  std::string account;
  std::string number;
  std::string vendor;
  std::string amount;
  std::string date;

  void declare(CLI::App& command) {
    command.add_option("ACCOUNT", account, "The account that the invoice belongs to")->required();
    command.add_option("NUMBER", number, "The vendor's invoice number")->required();
    command.add_option("VENDOR", vendor, "The vendor that sent it")->required();
    command
        .add_option("AMOUNT", amount,
                    "Such as 1250.00; for a negative amount put -- before ACCOUNT")
        ->required();
    command.add_option("DATE", date, "Such as 2024-02-29")->required();
  }
};

// A file that is being processed.
CLI::App* declare_processing(CLI::App& app, Request& request, const std::string& name,
                             const std::string& about) {
  CLI::App* const command = app.add_subcommand(name, about);
  command->add_option("ACCOUNT", request.account, "The account that the file belongs to")
      ->required();
  command->add_option("FILE", request.files, "The scan")->required()->expected(1);
  return command;
}

void add_duration(CLI::App& app, const std::string& name, Duration& target,
                  const std::string& about) {
  app.add_option_function<std::string>(
         name,
         [name, &target](const std::string& text) {
           const auto value = holdfast::base::parse_duration(text);
           if (!value) {
             throw CLI::ValidationError(name, value.error().message);
           }
           target = *value;
         },
         about)
      ->type_name("DURATION");
}

void declare_options(CLI::App& app, Request& request) {
  app.add_option("--store", request.store, "The lock store, such as sqlite:/path/locks.db")
      ->type_name("URL")
      ->required();
  app.add_option("--db", request.detector.database, "The SQLite file with the invoices")
      ->type_name("FILE")
      ->required();
  add_duration(app, "--wait", request.detector.wait,
               "The longest wait for other checks (default: 5s)");
  add_duration(app, "--work", request.detector.work,
               "Simulated processing time of an invoice (default: 0s)");
  static const std::map<std::string, WhenUnavailable> kPolicies = {
      {"fail", WhenUnavailable::fail},
      {"proceed", WhenUnavailable::proceed_without_lock},
      {"local", WhenUnavailable::fall_back_to_local}};
  app.add_option("--when-unavailable", request.detector.when_unavailable,
                 "If the lock store is unavailable: fail (default), proceed, local")
      ->type_name("WHAT")
      ->transform(CLI::CheckedTransformer(kPolicies).description(""));
}

}  // namespace

std::variant<Request, Answered> parse_command_line(int argc, char** argv) {
  Request request;
  Typed typed;
  CLI::App app(
      "Stores each invoice once, whichever process it is uploaded to.\n\n"
      "Exit status: 0 stored (at least one of several files), 1 duplicate, or not being "
      "processed,\n"
      "64 bad input, 69 the lock store or the table cannot be used, 75 another upload is being\n"
      "processed");
  app.require_subcommand(1);
  declare_options(app, request);
  CLI::App* const add = app.add_subcommand("add", "Store an invoice unless it is a duplicate");
  typed.declare(*add);
  add->add_option("FILE", request.files, "The scan; several files are uploaded at the same time")
      ->required();
  CLI::App* const check = app.add_subcommand("check", "Check whether an invoice is a duplicate");
  typed.declare(*check);
  app.add_subcommand("list", "Print the stored invoices");
  CLI::App* const mark = declare_processing(app, request, "mark-processing",
                                            "Mark a file as being processed, for five minutes");
  mark->add_option("--user", request.user, "Who processes it; shown by holdfast show");
  const CLI::App* const is =
      declare_processing(app, request, "is-processing", "Check whether a file is being processed");
  const CLI::App* const clear =
      declare_processing(app, request, "clear-processing", "Remove the mark of a file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Answered{app.exit(error) == 0 ? 0 : kUsage};
  }
  request.command = add->parsed()     ? Command::add
                    : check->parsed() ? Command::check
                    : mark->parsed()  ? Command::mark_processing
                    : is->parsed()    ? Command::is_processing
                    : clear->parsed() ? Command::clear_processing
                                      : Command::list;
  if (request.command == Command::add || request.command == Command::check) {
    auto invoice =
        make_invoice(typed.account, typed.number, typed.vendor, typed.amount, typed.date);
    if (!invoice) {
      std::cerr << to_string(invoice.error()) << '\n';
      return Answered{kUsage};
    }
    request.invoice = *std::move(invoice);
  }
  return request;
}

}  // namespace invoices
