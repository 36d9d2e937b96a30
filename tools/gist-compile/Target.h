//===- Target.h - The CPU that was asked for --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_TARGET_H
#define GIST_TOOLS_GIST_COMPILE_TARGET_H

#include "passes/Target/TargetInfo.h"
#include "runtime/Status.h"
#include "tools/gist-compile/Options.h"

namespace gist::compile {

/// The CPU that `options` name, with nothing left open. Unknown names are
/// errors here; LLVM would go on without them.
Status findTarget(const Options &options, CpuTarget &target);

} // namespace gist::compile

#endif // GIST_TOOLS_GIST_COMPILE_TARGET_H
