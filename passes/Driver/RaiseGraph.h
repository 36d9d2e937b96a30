//===- RaiseGraph.h - Graphs of other exporters -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_RAISEGRAPH_H
#define GIST_PASSES_DRIVER_RAISEGRAPH_H

#include "passes/Driver/Stages.h"
#include "passes/Import/Files/Weights.h"

#include "mlir/IR/BuiltinOps.h"

namespace gist::compile {

/// Explains why a text does not parse: names the foreign dialect if it has ops
/// of one, and otherwise returns the parser's error.
Status explainParseError(const std::string &path, llvm::StringRef text,
                         Status parserError);

/// Raises a graph that has nothing of the dialect gist; any other is left as it
/// is. The content of its constants goes to `weights`, which points into the
/// context.
Status raiseGraph(mlir::ModuleOp graph, Stages &stages, WeightMap &weights);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_RAISEGRAPH_H
