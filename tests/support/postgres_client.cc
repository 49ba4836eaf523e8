#include <tests/support/postgres_client.h>

#include <cstdlib>
#include <stdexcept>

#include <libpq-fe.h>

namespace holdfast::tests {

namespace {

using Answer = std::unique_ptr<PGresult, decltype(&::PQclear)>;

Answer run(PGconn* connection, const std::string& sql, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) {
    values.push_back(parameter.c_str());
  }
  Answer answer(::PQexecParams(connection, sql.c_str(), static_cast<int>(values.size()), nullptr,
                               values.data(), nullptr, nullptr, 0),
                &::PQclear);
  const ExecStatusType status = ::PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(::PQerrorMessage(connection));
  }
  return answer;
}

}  // namespace

void PostgresClient::Free::operator()(pg_conn* connection) const noexcept {
  ::PQfinish(connection);
}

PostgresClient::PostgresClient(const std::string& conninfo)
    : connection_(::PQconnectdb(conninfo.c_str())) {
  if (::PQstatus(connection_.get()) != CONNECTION_OK) {
    throw std::runtime_error(::PQerrorMessage(connection_.get()));
  }
}

int PostgresClient::change(const std::string& sql, const std::vector<std::string>& parameters) {
  return std::atoi(::PQcmdTuples(run(connection_.get(), sql, parameters).get()));
}

std::string PostgresClient::ask(const std::string& sql,
                                const std::vector<std::string>& parameters) {
  const Answer answer = run(connection_.get(), sql, parameters);
  return ::PQntuples(answer.get()) > 0 ? ::PQgetvalue(answer.get(), 0, 0) : "";
}

void PostgresClient::run_all(const std::string& sql) {
  const Answer answer(::PQexec(connection_.get(), sql.c_str()), &::PQclear);
  const ExecStatusType status = ::PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    const std::string why = ::PQerrorMessage(connection_.get());
    Answer(::PQexec(connection_.get(), "ROLLBACK"), &::PQclear);
    throw std::runtime_error(why);
  }
}

int PostgresClient::backend() const noexcept { return ::PQbackendPID(connection_.get()); }

}  // namespace holdfast::tests
