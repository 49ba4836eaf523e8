#pragma once

#include <mongoc/mongoc.h>

#include <holdfast/base/error.h>

namespace holdfast::engines::mongodb::internal {

// The functions of libmongoc that we use. It is loaded when a store is first opened: a program that
// opens other stores, and the tool above all, should not have to load it and the dozen libraries
// that it needs in turn.
struct Driver {
  decltype(&::mongoc_init) init;
  decltype(&::mongoc_client_command_with_opts) client_command_with_opts;
  decltype(&::mongoc_client_destroy) client_destroy;
  decltype(&::mongoc_client_new_from_uri_with_error) client_new_from_uri_with_error;
  decltype(&::mongoc_client_select_server) client_select_server;
  decltype(&::mongoc_client_set_error_api) client_set_error_api;
  decltype(&::mongoc_client_set_stream_initiator) client_set_stream_initiator;
  decltype(&::mongoc_client_write_command_with_opts) client_write_command_with_opts;
  decltype(&::mongoc_log_set_handler) log_set_handler;
  decltype(&::mongoc_server_description_destroy) server_description_destroy;
  decltype(&::mongoc_server_description_hello_response) server_description_hello_response;
  decltype(&::mongoc_stream_destroy) stream_destroy;
  decltype(&::mongoc_stream_tls_new_with_hostname) stream_tls_new_with_hostname;
  decltype(&::mongoc_uri_destroy) uri_destroy;
  decltype(&::mongoc_uri_get_option_as_bool) uri_get_option_as_bool;
  decltype(&::mongoc_uri_get_option_as_utf8) uri_get_option_as_utf8;
  decltype(&::mongoc_uri_get_tls) uri_get_tls;
  decltype(&::mongoc_uri_get_write_concern) uri_get_write_concern;
  decltype(&::mongoc_uri_new_with_error) uri_new_with_error;
  decltype(&::mongoc_uri_set_option_as_bool) uri_set_option_as_bool;
  decltype(&::mongoc_uri_set_option_as_int32) uri_set_option_as_int32;
  decltype(&::mongoc_write_concern_is_default) write_concern_is_default;

  // The one of this process, ready for use and never unloaded. ErrorCode::unsupported if the
  // library is not installed.
  [[nodiscard]] static base::Result<const Driver*> load();
};

}  // namespace holdfast::engines::mongodb::internal
