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

// The parts of an invoice as they were typed.
struct Typed {
  std::string account;
  std::string number;
  std::string vendor;
  std::string amount;
  std::string date;

  void declare(CLI::App& command) {
    command.add_option("ACCOUNT", account, "Whose invoice it is")->required();
    command.add_option("NUMBER", number, "The vendor's number of it")->required();
    command.add_option("VENDOR", vendor, "Who sent it")->required();
    command.add_option("AMOUNT", amount, "As in 1250.00; for a negative one put -- before ACCOUNT")
        ->required();
    command.add_option("DATE", date, "As in 2024-02-29")->required();
  }
};

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
  app.add_option("--store", request.store, "Where the locks are, as in sqlite:/path/locks.db")
      ->type_name("URL")
      ->required();
  app.add_option("--db", request.detector.database, "Where the invoices are")
      ->type_name("FILE")
      ->required();
  add_duration(app, "--wait", request.detector.wait, "For another check, at most (default: 5s)");
  add_duration(app, "--work", request.detector.work,
               "As if processing an invoice took so long (default: 0s)");
  static const std::map<std::string, WhenUnavailable> kPolicies = {
      {"fail", WhenUnavailable::fail},
      {"proceed", WhenUnavailable::proceed_without_lock},
      {"local", WhenUnavailable::fall_back_to_local}};
  app.add_option("--when-unavailable", request.detector.when_unavailable,
                 "If the locks cannot be reached: fail (default), proceed, local")
      ->type_name("WHAT")
      ->transform(CLI::CheckedTransformer(kPolicies).description(""));
}

}  // namespace

std::variant<Request, Answered> parse_command_line(int argc, char** argv) {
  Request request;
  Typed typed;
  CLI::App app(
      "Stores invoices, each once, whichever process they are uploaded to.\n\n"
      "Exit status: 0 stored (of several files: any), 1 duplicate, 64 bad input,\n"
      "69 the locks or the table cannot be used, 75 another upload is being processed");
  app.require_subcommand(1);
  declare_options(app, request);
  CLI::App* const add = app.add_subcommand("add", "Store an invoice unless it is there already");
  typed.declare(*add);
  add->add_option("FILE", request.files, "Its scan; several: as many uploads at once")->required();
  CLI::App* const check = app.add_subcommand("check", "Say whether an invoice is there already");
  typed.declare(*check);
  app.add_subcommand("list", "Print the invoices that are stored");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Answered{app.exit(error) == 0 ? 0 : kUsage};
  }
  request.command = add->parsed() ? Command::add : check->parsed() ? Command::check : Command::list;
  if (request.command != Command::list) {
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
