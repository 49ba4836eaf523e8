#include <poll.h>

#include <stdexcept>

#include "bench/postgresql/bare_client.h"

namespace holdfast::bench_postgresql {

BareClient::BareClient(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    throw std::runtime_error(PQerrorMessage(connection_.get()));
  }
}

void BareClient::check(PGresult* result) const {
  const ExecStatusType status = PQresultStatus(result);
  PQclear(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_PIPELINE_SYNC) {
    throw std::runtime_error(PQerrorMessage(connection_.get()));
  }
}

void BareClient::prepare(const std::string& name, const std::string& sql) {
  check(PQprepare(connection_.get(), name.c_str(), sql.c_str(), 0, nullptr));
}

void BareClient::run(const std::string& name, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) {
    values.push_back(parameter.c_str());
  }
  check(PQexecPrepared(connection_.get(), name.c_str(), static_cast<int>(values.size()),
                       values.data(), nullptr, nullptr, 0));
}

void BareClient::run_many(const std::string& name, const std::string& parameter, int count) {
  PQenterPipelineMode(connection_.get());
  for (int i = 0; i < count; ++i) {
    const std::string each = parameter + std::to_string(i);
    const char* const value = each.c_str();
    PQsendQueryPrepared(connection_.get(), name.c_str(), 1, &value, nullptr, nullptr, 0);
    PQpipelineSync(connection_.get());  // a transaction for each
  }
  for (int i = 0; i < 2 * count;) {
    PGresult* const result = PQgetResult(connection_.get());
    if (result != nullptr) {
      check(result);
      ++i;
    }
  }
  PQexitPipelineMode(connection_.get());
}

void BareClient::run(const std::string& sql) { check(PQexec(connection_.get(), sql.c_str())); }

std::string BareClient::ask(const std::string& sql) {
  PGresult* const result = PQexec(connection_.get(), sql.c_str());
  const std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
  check(result);
  return value;
}

void BareClient::await_notification() {
  for (;;) {
    PQconsumeInput(connection_.get());
    if (PGnotify* const notification = PQnotifies(connection_.get())) {
      PQfreemem(notification);
      return;
    }
    pollfd descriptor{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
    ::poll(&descriptor, 1, -1);
  }
}

}  // namespace holdfast::bench_postgresql
