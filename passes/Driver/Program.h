//===- Program.h - A model compiled for one target --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_PROGRAM_H
#define GIST_PASSES_DRIVER_PROGRAM_H

#include "passes/Driver/Stages.h"
#include "passes/Driver/Target.h"
#include "passes/Emit/EmitModule.h"

#include "mlir/IR/OwningOpRef.h"

namespace gist::compile {

/// The calls and kernels that a graph becomes for one target. The functions
/// below are stages, in the order in which they run.
class Program {
public:
  /// `prefix` starts the names of the program's stages.
  Program(mlir::OwningOpRef<mlir::ModuleOp> graph, Target target,
          std::string prefix, const Options &options, Stages &stages)
      : target(std::move(target)), options(options), stages(stages),
        prefix(std::move(prefix)), calls(std::move(graph)) {}

  /// Simplifies the graph and cuts it into kernels and calls of them.
  Status formKernels();
  /// Lowers the kernels to the LLVM dialect.
  Status lowerKernels();
  /// LLVM IR of the lowered kernels, or their assembly.
  Status printCode(bool asLlvm, std::string &text);
  /// Makes what a device loads, and plans the memory of the calls.
  Status generateCode();

  /// Instead of the last three: makes code that other runtimes call, and
  /// writes on the kernels of the calls how they are launched.
  Status prepareExport();

  mlir::ModuleOp getCalls() { return *calls; }
  const std::string &getCode() const { return code; }
  /// The parts of this program that go into a module.
  TargetProgram describe();

  /// The kernels and their calls, as text.
  std::string describeKernels();
  /// Takes the code of another program with the same kernels, and plans the
  /// memory of the calls. The other must stay alive.
  Status shareCode(const Program &other);

  const Target target;
  /// The rank that this part of the model belongs to, if several ranks share
  /// the model.
  std::optional<uint32_t> rank;
  /// What products of 8 bits multiply, such as "int8"; null if there are none.
  const char *small = nullptr;

private:
  Status run(const std::string &name, mlir::ModuleOp module,
             llvm::function_ref<void(mlir::OpPassManager &)> build) {
    return stages.run(prefix + name, module, build);
  }

  const Options &options;
  Stages &stages;
  std::string prefix;
  mlir::OwningOpRef<mlir::ModuleOp> calls;   ///< the graph, then calls
  mlir::OwningOpRef<mlir::ModuleOp> kernels; ///< copies of the calls', lowered
  mlir::ModuleOp lowered; ///< `kernels`, or those of another program
  std::string code;
  std::vector<std::string> features; ///< of a CPU, that the code needs
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_PROGRAM_H
