//===- Status.h - The result of everything that can fail --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime throws nothing, exits never and prints nothing. Whatever a file,
// a flag, a device or the machine can get wrong comes back as a Status: a code
// for programs and one sentence for people.
//
// Memory that the system refuses is the one thing that is thrown inside: by the
// standard library, from every line that makes a text or a list longer. It is
// caught at the functions that the runtime's users call (OutOfMemory.h), and
// nowhere else. docs/security.md says why.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_STATUS_H
#define GIST_RUNTIME_SUPPORT_STATUS_H

#include <cstdio>
#include <string>
#include <utility>

namespace gist {

enum class Code {
  Ok,
  BadFile,     ///< A file's content is not what its format promises.
  NotFound,    ///< A file, entry, device or symbol does not exist.
  BadArgument, ///< A value given by the caller is out of range.
  Unsupported, ///< Well-formed, but nothing this build can do.
  OutOfMemory, ///< Host or device memory, or a budget, is exhausted.
  Io,          ///< The operating system refused a read or a write.
  Device,      ///< A driver reported an error.
  Untrusted,   ///< Code of a module that the user has not trusted.
};

class [[nodiscard]] Status {
public:
  Status() = default;

  /// An error with a printf-style sentence: what was found, what was expected.
  [[gnu::format(printf, 2, 3)]] static Status error(Code code,
                                                    const char *format, ...);

  /// So short that the text needs no memory of its own.
  static Status outOfMemory() noexcept {
    Status status;
    status.code = Code::OutOfMemory;
    status.text = "out of memory";
    return status;
  }

  bool ok() const { return code == Code::Ok; }

  /// The same error, with the file or part it happened in named in front.
  Status in(const std::string &where) &&;

  Code code = Code::Ok;
  std::string text;
};

} // namespace gist

/// Returns from the current function with the status of `expression` when that
/// is an error.
#define GIST_TRY(expression)                                                   \
  do {                                                                         \
    if (::gist::Status gistStatus = (expression); !gistStatus.ok())            \
      return gistStatus;                                                       \
  } while (false)

#endif // GIST_RUNTIME_SUPPORT_STATUS_H
