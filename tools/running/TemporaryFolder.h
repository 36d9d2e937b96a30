//===- TemporaryFolder.h - A folder that goes with its owner ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_TEMPORARYFOLDER_H
#define GIST_TOOLS_RUNNING_TEMPORARYFOLDER_H

#include "runtime/support/Status.h"

#include <string>

namespace gist::run {

/// A folder of our own, removed with all that is in it at the end.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  Status make();
  std::string file(const std::string &name) const { return path + "/" + name; }

private:
  std::string path;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_TEMPORARYFOLDER_H
