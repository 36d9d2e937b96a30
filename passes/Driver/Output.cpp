//===- Output.cpp - Where results go --------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Output.h"

#include "runtime/support/AtomicFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// A file is written whole or not at all; standard output cannot be taken back.
Status compile::writeText(llvm::StringRef text, const std::string &path) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      return Status::error(Code::Io, "cannot write the output");
    return {};
  }
  return writeWhole(path, text);
}

std::string compile::printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

/// Numbered, so that a listing shows the order of the stages.
Status StageDump::write(const std::string &stage, ModuleOp module) {
  if (folder.empty())
    return {};
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return Status::error(Code::Io, "%s: cannot make the folder: %s",
                         folder.c_str(), error.message().c_str());
  char number[16];
  std::snprintf(number, sizeof(number), "/%02u-", ++count);
  return writeText(printModule(module), folder + number + stage + ".mlir");
}
