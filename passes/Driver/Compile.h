//===- Compile.h - The stages, from a model to a file -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_COMPILE_H
#define GIST_PASSES_DRIVER_COMPILE_H

#include "passes/Driver/Options.h"
#include "passes/Driver/Progress.h"
#include "runtime/support/Status.h"

namespace gist::compile {

/// Runs the stages up to what `options` asks for and writes that. On error it
/// leaves no file behind except those of --dump-stages.
Status compileModel(const Options &options, Progress &progress);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_COMPILE_H
