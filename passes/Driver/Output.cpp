//===- Output.cpp - Where results go --------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Output.h"

#include "passes/Driver/Nesting.h"
#include "runtime/support/AtomicFile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
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

/// The operation stays; what is in it and its attributes are the file's.
Status StageDump::take(ModuleOp module, Diagnostics &diagnostics) {
  auto buffer = llvm::MemoryBuffer::getFile(edited, /*IsText=*/true);
  if (!buffer)
    return Status::error(Code::NotFound, "%s: cannot open: %s", edited.c_str(),
                         buffer.getError().message().c_str());
  GIST_TRY(checkNesting(edited, (*buffer)->getBuffer()));
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  auto parsed =
      parseSourceFile<ModuleOp>(source, ParserConfig(module.getContext()));
  if (!parsed)
    return diagnostics.takeError(edited);
  module.getBodyRegion().takeBody(parsed->getBodyRegion());
  module->setAttrs((*parsed)->getAttrDictionary());
  isTaken = true;
  return {};
}

Status StageDump::checkTaken() const {
  if (edited.empty() || isTaken)
    return {};
  return Status::error(Code::BadArgument,
                       "%s: there is no stage of that name; expected one of "
                       "%s, as --dump-stages writes them with the same options",
                       edited.c_str(), names.c_str());
}

/// Numbered, so that a listing shows the order of the stages.
Status StageDump::pass(const std::string &stage, ModuleOp module,
                       Diagnostics &diagnostics) {
  char number[16];
  std::snprintf(number, sizeof(number), "%02u-", ++count);
  std::string name = number + stage + ".mlir";
  names += (names.empty() ? "" : ", ") + name;
  if (!edited.empty() && llvm::sys::path::filename(edited) == name)
    GIST_TRY(take(module, diagnostics));
  if (folder.empty())
    return {};
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return Status::error(Code::Io, "%s: cannot make the folder: %s",
                         folder.c_str(), error.message().c_str());
  // People look for the sizes of tiles where the kernels are.
  bool isKernels = llvm::StringRef(stage).ends_with("kernels");
  std::string note = isKernels
                         ? "// The next stage chooses the sizes of tiles: "
                           "-gist-select-tile-config writes gist.tile.\n"
                         : "";
  return writeText(note + printModule(module), folder + "/" + name);
}
