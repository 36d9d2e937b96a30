//===- Iree.h - Programs for IREE -------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_IREE_H
#define GIST_PASSES_DRIVER_IREE_H

#include "passes/Driver/IreeCompile.h"
#include "passes/Driver/Program.h"
#include "passes/Plan/MadeWeights.h"

namespace gist::compile {

/// Writes `graph`, which follows its plan already, as a program for IREE, with
/// the weights in a file beside it. With --kernels=embedded a second file holds
/// the code of kernels. With --via=iree `compiler` makes a .vmfb of the
/// program.
Status writeIree(mlir::ModuleOp graph, const Target &target,
                 const Options &options, const IreeCompiler &compiler,
                 Stages &stages, WeightMaker &weights);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_IREE_H
