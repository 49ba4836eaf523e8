#pragma once

#include <libpq-fe.h>

#include <holdfast/base/error.h>

namespace holdfast::engines::postgresql::internal {

// The functions of libpq that the engine uses. The library is loaded when a store is opened, so
// that programs that use another engine need not have it.
//
// Thread-safe: constant once loaded. It stays loaded until the process ends.
struct Libpq {
  // The same for all. ErrorCode::unsupported if the library is missing or too old.
  [[nodiscard]] static base::Result<const Libpq*> load();

  decltype(&::PQbackendPID) backend_pid;
  decltype(&::PQclear) clear;
  decltype(&::PQconnectPoll) connect_poll;
  decltype(&::PQconnectStartParams) connect_start_params;
  decltype(&::PQconninfoFree) conninfo_free;
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconsumeInput) consume_input;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQfinish) finish;
  decltype(&::PQflush) flush;
  decltype(&::PQfreemem) free_memory;
  decltype(&::PQgetisnull) is_null;
  decltype(&::PQgetlength) length;
  decltype(&::PQgetResult) get_result;
  decltype(&::PQgetvalue) value;
  decltype(&::PQisBusy) is_busy;
  decltype(&::PQnfields) columns;
  decltype(&::PQnotifies) notifies;
  decltype(&::PQntuples) rows;
  decltype(&::PQresultErrorField) error_field;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQsendPrepare) send_prepare;
  decltype(&::PQsendQuery) send_query;
  decltype(&::PQsendQueryParams) send_query_params;
  decltype(&::PQsendQueryPrepared) send_query_prepared;
  decltype(&::PQsetnonblocking) set_nonblocking;
  decltype(&::PQsetNoticeReceiver) set_notice_receiver;
  decltype(&::PQsocket) socket;
  decltype(&::PQstatus) status;
};

}  // namespace holdfast::engines::postgresql::internal
