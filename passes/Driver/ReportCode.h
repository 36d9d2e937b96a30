//===- ReportCode.h - What kernels take, on standard output -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_REPORTCODE_H
#define GIST_PASSES_DRIVER_REPORTCODE_H

#include "passes/Driver/Options.h"
#include "runtime/support/Status.h"

#include "llvm/ADT/StringRef.h"

namespace gist::compile {

/// Prints what was asked for about a code object for gfx942.
Status reportCode(Report report, llvm::StringRef code);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_REPORTCODE_H
