//===- ApiError.h - Why a request is refused --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_APIERROR_H
#define GIST_TOOLS_SERVING_APIERROR_H

#include <string>
#include <utility>

namespace gist::serve {

/// An error as clients of the OpenAI API know it: an HTTP status, a type and a
/// code for programs, and one sentence for users.
struct [[nodiscard]] ApiError {
  int status = 0; ///< 0: no error
  std::string type, code;
  std::string param; ///< the field at fault; may be empty
  std::string message;
  int retryAfter = 0; ///< seconds; 0: not said

  bool ok() const { return status == 0; }

  /// The request is wrong, and would be wrong again.
  static ApiError invalid(std::string param, std::string message) {
    return {400, "invalid_request_error", "invalid_value", std::move(param),
            std::move(message)};
  }
  /// The request is valid, but this server does not support it.
  static ApiError unsupported(std::string param, std::string message) {
    return {400, "invalid_request_error", "unsupported_parameter",
            std::move(param), std::move(message)};
  }
  /// This server's own fault.
  static ApiError internal(std::string message) {
    return {500, "server_error", "internal_error", {}, std::move(message)};
  }
};

} // namespace gist::serve

/// Returns from the current function with the error of `expression` when there
/// is one.
#define GIST_SERVE_TRY(expression)                                             \
  do {                                                                         \
    if (::gist::serve::ApiError gistError = (expression); !gistError.ok())     \
      return gistError;                                                        \
  } while (false)

#endif // GIST_TOOLS_SERVING_APIERROR_H
