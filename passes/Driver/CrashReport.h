//===- CrashReport.h - What a crash says ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_CRASHREPORT_H
#define GIST_PASSES_DRIVER_CRASHREPORT_H

namespace gist {

/// Sets the text that a crash of this program prints: it asks for a report to
/// Gist. LLVM's own text asks for a report to LLVM, where a crash of Gist
/// cannot be solved.
void setCrashReport();

/// Prints the stack when this program crashes, for programs that do not use
/// llvm::InitLLVM; that also ends a process when a pipe is closed.
void printStackOnCrash(const char *program);

} // namespace gist

#endif // GIST_PASSES_DRIVER_CRASHREPORT_H
