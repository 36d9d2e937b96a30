//===- CrashReport.h - What a crash says ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_CRASHREPORT_H
#define GIST_PASSES_DRIVER_CRASHREPORT_H

namespace gist {

/// Lets a crash of this program ask for a report to Gist. LLVM's own text asks
/// for one to LLVM, who cannot know what Gist did.
void setCrashReport();

/// Prints the stack when this program crashes, for programs that do not use
/// llvm::InitLLVM; that also ends a process when a pipe is closed.
void printStackOnCrash(const char *program);

} // namespace gist

#endif // GIST_PASSES_DRIVER_CRASHREPORT_H
