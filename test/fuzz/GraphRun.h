//===- GraphRun.h - Two ways to run a graph ---------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_FUZZ_GRAPHRUN_H
#define GIST_TEST_FUZZ_GRAPHRUN_H

#include "passes/Driver/Options.h"
#include "runtime/support/Status.h"
#include "test/fuzz/RandomGraph.h"

#include "mlir/IR/MLIRContext.h"

namespace gist::fuzz {

using Contents = std::vector<std::vector<uint8_t>>;

/// Runs a graph by the definitions of its ops (-gist-reference), compiled into
/// this process. Results are the bytes of the graph's outputs.
Status runReference(mlir::MLIRContext &context, const RandomGraph &graph,
                    Contents inputs, Contents &outputs);

/// Compiles a graph as gist-compile does, for every target of `options`, into
/// the file options.output.
Status compileGraph(const compile::Options &options);

/// Runs the module in `path` on a device of this kind, "cpu" or "hip", whose
/// driver is `library`.
Status runModule(const std::string &path, const std::string &kind,
                 const std::string &library, const RandomGraph &graph,
                 const Contents &inputs, Contents &outputs);

} // namespace gist::fuzz

#endif // GIST_TEST_FUZZ_GRAPHRUN_H
