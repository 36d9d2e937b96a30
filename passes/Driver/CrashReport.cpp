//===- CrashReport.cpp - What a crash says --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/CrashReport.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

void gist::setCrashReport() {
  llvm::setBugReportMsg(
      "This is a bug in Gist. Please report it in the issues of the Gist "
      "project, with the command, its input and the stack below; gist-reduce "
      "can make an .mlir input smaller.\n");
}

void gist::printStackOnCrash(const char *program) {
  llvm::EnablePrettyStackTrace();
  llvm::sys::PrintStackTraceOnErrorSignal(program);
}
