//===- SpecBuilder.h - What the entries of a module share -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_EMIT_SPECBUILDER_H
#define GIST_PASSES_EMIT_SPECBUILDER_H

#include "dialect/GistOps.h"
#include "passes/Emit/EmitModule.h"

#include "mlir/IR/AffineExpr.h"

#include <map>

namespace gist {

/// Adds expressions, buffers, weights and kernels to a module, each once.
class SpecBuilder {
public:
  SpecBuilder(const WeightMap &weights, const EmitOptions &options,
              ModuleWriter &writer)
      : writer(writer), weights(weights), options(options) {}

  ExprId addExpr(mlir::AffineExpr expr);

  /// A buffer for `tensor`, of a size that is known. If there is another of
  /// this name, `entry` is put in front.
  uint32_t addBuffer(const std::string &name, llvm::StringRef entry,
                     BufferKind kind, mlir::Value tensor,
                     mlir::AffineExpr offset = {});

  /// The buffer of a weight, as stored.
  mlir::FailureOr<uint32_t> addWeight(WeightOp op);

  /// Kernels for all functions of `program` that are one.
  void addKernels(mlir::ModuleOp program, size_t numTargets);
  uint32_t getKernel(llvm::StringRef name) const {
    return kernelOf.find(name.str())->second;
  }

  ModuleWriter &writer;

private:
  uint32_t push(BufferSpec buffer);

  const WeightMap &weights;
  const EmitOptions &options;
  std::map<std::string, uint32_t> bufferOf, kernelOf;
};

} // namespace gist

#endif // GIST_PASSES_EMIT_SPECBUILDER_H
