//===- AtomicFile.h - A file that appears whole or not at all ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_ATOMICFILE_H
#define GIST_RUNTIME_SUPPORT_ATOMICFILE_H

#include "runtime/support/Bytes.h"

#include <string>
#include <string_view>

namespace gist {

/// Writes beside the destination and renames at the end. Without commit(),
/// nothing is left behind, and where the file system allows it not even when
/// the process is killed. A device (/dev/null) is written as it is.
class AtomicFile {
public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  Status open(const std::string &destination);
  /// Appends.
  Status write(Bytes bytes);
  /// Replaces bytes that were written before.
  Status rewrite(uint64_t offset, Bytes bytes);
  /// Makes the content durable and gives the file its name.
  Status commit();

  uint64_t size() const { return written; }

private:
  Status failed(const char *what) const;
  Status giveTemporaryName();

  std::string path, folder;
  std::string temporary; ///< empty while the file has no name at all
  int descriptor = -1;
  bool isDevice = false;
  uint64_t written = 0;
};

/// Fails if a file of this name could not be written; changes nothing. For
/// callers that compute for long before they write.
Status checkWritable(const std::string &path);

/// Writes a file whole, or not at all.
Status writeWhole(const std::string &path, std::string_view content);

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_ATOMICFILE_H
