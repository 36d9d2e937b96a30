//===- Version.cpp - What --version prints --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Version.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

void gist::setVersion(const char *tool) {
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &stream) {
    stream << tool << " " GIST_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
  });
}
