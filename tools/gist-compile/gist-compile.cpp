//===- gist-compile.cpp - From a model to a module ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/gist-compile/Compiler.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  gist::CompileOptions options;
  if (!gist::parseOptions(argc, argv, options))
    return 2;
  gist::Status status = gist::Compiler(options).run();
  if (!status.ok()) {
    llvm::errs() << "gist-compile: error: " << status.text << "\n";
    return 1;
  }
  return 0;
}
