//===- MappedFile.h - A file mapped for reading -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MAPPEDFILE_H
#define GIST_RUNTIME_MAPPEDFILE_H

#include "runtime/Bytes.h"

#include <string>
#include <utility>

namespace gist {

/// Owns a read-only mapping of a whole file. Views of it stay valid when the
/// owner moves, until it is destroyed.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept
      : content(std::exchange(other.content, {})) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(content, other.content);
    return *this;
  }
  ~MappedFile();

  /// Maps the regular file at `path`. On error `out` is left as it was.
  static Status open(const std::string &path, MappedFile &out);

  Bytes bytes() const { return content; }

private:
  Bytes content;
};

} // namespace gist

#endif // GIST_RUNTIME_MAPPEDFILE_H
