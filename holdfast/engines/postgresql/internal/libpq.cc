#include <holdfast/engines/postgresql/internal/libpq.h>

#include <string>
#include <type_traits>

#include <dlfcn.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kLibrary = "libpq.so.5";

Result<Libpq> load_library() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return fail(ErrorCode::unsupported,
                std::string("the PostgreSQL client library cannot be loaded: install ") + kLibrary +
                    " (" + (why == nullptr ? "" : why) + ")");
  }
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& into) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(library, name));
    if (into == nullptr) {
      missing = name;
    }
  };
  Libpq libpq{};
  get("PQbackendPID", libpq.backend_pid);
  get("PQclear", libpq.clear);
  get("PQconnectPoll", libpq.connect_poll);
  get("PQconnectStartParams", libpq.connect_start_params);
  get("PQconninfoFree", libpq.conninfo_free);
  get("PQconninfoParse", libpq.conninfo_parse);
  get("PQconsumeInput", libpq.consume_input);
  get("PQerrorMessage", libpq.error_message);
  get("PQfinish", libpq.finish);
  get("PQflush", libpq.flush);
  get("PQfreemem", libpq.free_memory);
  get("PQgetisnull", libpq.is_null);
  get("PQgetlength", libpq.length);
  get("PQgetResult", libpq.get_result);
  get("PQgetvalue", libpq.value);
  get("PQisBusy", libpq.is_busy);
  get("PQnfields", libpq.columns);
  get("PQnotifies", libpq.notifies);
  get("PQntuples", libpq.rows);
  get("PQresultErrorField", libpq.error_field);
  get("PQresultStatus", libpq.result_status);
  get("PQsendPrepare", libpq.send_prepare);
  get("PQsendQuery", libpq.send_query);
  get("PQsendQueryParams", libpq.send_query_params);
  get("PQsendQueryPrepared", libpq.send_query_prepared);
  get("PQsetnonblocking", libpq.set_nonblocking);
  get("PQsetNoticeReceiver", libpq.set_notice_receiver);
  get("PQsocket", libpq.socket);
  get("PQstatus", libpq.status);
  if (missing != nullptr) {
    return fail(ErrorCode::unsupported, std::string("the PostgreSQL client library is too old: ") +
                                            kLibrary + " has no " + missing);
  }
  return libpq;
}

}  // namespace

Result<const Libpq*> Libpq::load() {
  static const Result<Libpq> kLibpq = load_library();
  if (!kLibpq) {
    return std::unexpected(kLibpq.error());
  }
  return &*kLibpq;
}

}  // namespace holdfast::engines::postgresql::internal
