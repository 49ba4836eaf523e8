#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <holdfast/base/printable.h>
#include <holdfast/recipes/marker.h>

#include "apps/holdfast/cli/removal.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/serve/admin.h"
#include "apps/holdfast/serve/api_json.h"

namespace holdfast::cli::serve {

namespace {

constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kWrongMethod = 405;
constexpr int kWrongType = 415;

// Takes as long for any token of the same length.
bool is_equal(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) {
    return false;
  }
  unsigned different = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    different |= static_cast<unsigned>(given[i]) ^ static_cast<unsigned>(token[i]);
  }
  return different == 0;
}

bool confirms(const std::string& body, const std::string& name) {
  const auto read = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object() || !read.contains("confirm") || !read["confirm"].is_string()) {
    return false;
  }
  const std::string confirmed = read["confirm"];
  return confirmed == name || confirmed == id_of(name);
}

}  // namespace

Admin::Admin(std::shared_ptr<store::LeaseStore> store, Watcher& watcher, std::string token,
             Audit audit)
    : store_(std::move(store)),
      watcher_(watcher),
      token_(std::move(token)),
      audit_(std::move(audit)) {}

Admin::Change Admin::find_change(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, Change>, 3> kChanges{
      {{"/api/v1/steal", &Admin::steal},
       {"/api/v1/clear", &Admin::clear},
       {"/api/v1/reset", &Admin::reset}}};
  const auto* const found =
      std::ranges::find(kChanges, path, &std::pair<std::string_view, Change>::first);
  return found != kChanges.end() ? found->second : nullptr;
}

bool Admin::knows(std::string_view path) { return find_change(path) != nullptr; }

Answer Admin::answer(const Request& request, const Target& target) const {
  const std::string* const name = target.find("name");
  const std::string what =
      target.path.substr(target.path.rfind('/') + 1) + " " + base::printable(name ? *name : "");
  if (request.method != "POST") {
    Response response = failure(kWrongMethod, "unsupported", "changes are made with POST");
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
  constexpr std::string_view kBearer = "Bearer ";
  if (!request.authorization.starts_with(kBearer) ||
      !is_equal(std::string_view(request.authorization).substr(kBearer.size()), token_)) {
    audit_(AuditLog::Kind::refusal, "refused " + what + ": no or another token");
    Response response =
        failure(kUnauthorized, "invalid_argument", "changes need the token of --admin-token-file");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  if (!request.content_type.starts_with("application/json")) {
    return failure(kWrongType, "invalid_argument", "the body is not application/json");
  }
  if (name == nullptr || !confirms(request.body, *name)) {
    return failure(kBadRequest, "invalid_argument",
                   R"(write the name twice: in the URL, and in the body as {"confirm": NAME})");
  }
  return Work([this, change = find_change(target.path), name = *name] {
    Response response = (this->*change)(name);
    watcher_.refresh();
    return response;
  });
}

Response Admin::steal(const std::string& name) const {
  const auto holders = removable_holders(*store_, name);
  if (!holders) {
    return failed("steal " + base::printable(name), holders.error());
  }
  Json stolen = Json::array();
  for (const store::Holder& holder : *holders) {
    const std::string from =
        fmt::format("{} from {}, who had held it for {} (token {})", base::printable(name),
                    holder_label(holder), rough(holder.held_for), base::to_string(holder.token));
    // Before it ends: the next listing may already miss it.
    watcher_.note_steal(holder.id);
    const auto removed = remove_leases(*store_, name, {holder});
    if (!removed) {
      if (removed.error().code != base::ErrorCode::unknown_outcome) {
        watcher_.forget_steal(holder.id);
      }
      return failed("steal " + from, removed.error());
    }
    if (removed->empty()) {
      watcher_.forget_steal(holder.id);
      continue;
    }
    audit_(AuditLog::Kind::change, "stole " + from);
    stolen.push_back(to_json(holder));
  }
  return json_response({{"name", name}, {"stolen", std::move(stolen)}});
}

Response Admin::failed(std::string_view change, const base::Error& error) const {
  const bool unknown = error.code == base::ErrorCode::unknown_outcome;
  audit_(AuditLog::Kind::change,
         fmt::format("{} {}: {}", unknown ? "perhaps made the change:" : "could not", change,
                     base::printable(error.message)));
  return error_response(error);
}

Response Admin::clear(const std::string& name) const {
  const auto outcome = recipes::Marker(store_).clear(name);
  if (!outcome) {
    return failed("clear " + base::printable(name), outcome.error());
  }
  const bool cleared = *outcome == recipes::ClearOutcome::cleared;
  audit_(AuditLog::Kind::change, fmt::format("cleared the mark {}{}", base::printable(name),
                                             cleared ? "" : ", which was not set"));
  return json_response({{"key", name}, {"outcome", cleared ? "cleared" : "was_not_marked"}});
}

Response Admin::reset(const std::string& name) const {
  const auto had_run = forget_run(*store_, name);
  const auto hits = had_run ? forget_hits_of(*store_, name) : std::unexpected(had_run.error());
  if (!hits) {
    return failed("reset " + base::printable(name), hits.error());
  }
  const bool was_there = *had_run || *hits > 0;
  audit_(AuditLog::Kind::change,
         fmt::format("reset {}{}", base::printable(name),
                     was_there ? "" : ", which had not run in this period"));
  return json_response(
      {{"name", name}, {"outcome", was_there ? "reset" : "had_not_run"}, {"hits", *hits}});
}

base::Result<std::string> read_admin_token(const std::string& file) {
  constexpr std::size_t kLeast = 16;
  const auto refuse = [&](std::string_view why) {
    return base::fail(
        base::ErrorCode::invalid_argument,
        fmt::format("the file of --admin-token-file, {}, {}", base::printable(file), why));
  };
  struct stat status{};
  std::ifstream input(file);
  std::string token;
  if (stat(file.c_str(), &status) != 0 || !std::getline(input, token)) {
    return refuse("cannot be read, or is empty");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return refuse("is open to other users: chmod 600 it");
  }
  if (token.size() < kLeast) {
    return refuse("has a token of fewer than 16 characters: 'openssl rand -hex 16' makes one");
  }
  return token;
}

}  // namespace holdfast::cli::serve
