//===- Compile.h - The stages, from a model to a file -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_COMPILE_H
#define GIST_TOOLS_GIST_COMPILE_COMPILE_H

#include "runtime/Status.h"
#include "tools/gist-compile/Options.h"
#include "tools/gist-compile/Progress.h"

namespace gist::compile {

/// Runs the stages up to what `options` asks for and writes that. On error
/// nothing is left behind but the stages that were asked for with
/// --dump-stages.
Status compileModel(const Options &options, Progress &progress);

} // namespace gist::compile

#endif // GIST_TOOLS_GIST_COMPILE_COMPILE_H
