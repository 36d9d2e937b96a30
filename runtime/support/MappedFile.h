//===- MappedFile.h - A file as memory --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_MAPPEDFILE_H
#define GIST_RUNTIME_SUPPORT_MAPPEDFILE_H

#include "runtime/support/Bytes.h"

#include <memory>
#include <string>

namespace gist {

/// A read-only view of a file that the operating system pages in on demand and
/// shares between processes. The file must not shrink while it is mapped.
class MappedFile {
public:
  static Status open(const std::string &path,
                     std::unique_ptr<MappedFile> &result);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  Bytes bytes() const { return content; }

private:
  explicit MappedFile(Bytes content) : content(content) {}

  Bytes content;
};

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_MAPPEDFILE_H
