//===- TemporaryFolder.cpp - A folder that goes with its owner ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/TemporaryFolder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdlib.h> // mkdtemp
#include <system_error>

using namespace gist;
using namespace gist::run;

TemporaryFolder::~TemporaryFolder() {
  // A destructor must not throw; a folder that stays does no harm.
  std::error_code ignored;
  if (!path.empty())
    std::filesystem::remove_all(path, ignored);
}

/// mkdtemp makes a folder that other users cannot enter or guess.
Status TemporaryFolder::make() {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "gist-XXXXXX").string();
  if (error || !mkdtemp(pattern.data()))
    return Status::error(Code::Io, "there is no folder for temporary files: %s",
                         error ? error.message().c_str()
                               : std::strerror(errno));
  path = pattern;
  return {};
}
