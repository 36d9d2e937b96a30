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
  SpecBuilder(WeightMaker &weights, const EmitOptions &options,
              ModuleWriter &writer)
      : writer(writer), weights(weights), options(options) {}

  /// What follows is for this target; `scope` starts the names of what no other
  /// target shares, unless it is empty.
  void beginTarget(uint32_t number, llvm::StringRef scope);
  std::string getScoped(llvm::StringRef name) const {
    return scope.empty() ? name.str() : scope + "." + name.str();
  }

  /// What follows is of this rank.
  void setRank(uint32_t number) { rank = number; }
  /// A name that other ranks do not have.
  std::string getRankName(const std::string &name) const {
    return rank == 0 ? name : "rank" + std::to_string(rank) + "." + name;
  }

  ExprId addExpr(mlir::AffineExpr expr);

  /// A buffer for `tensor`, of a size that is known. If there is another of
  /// this name, `entry`, which no other entry has, is put in front.
  uint32_t addBuffer(const std::string &name, llvm::StringRef entry,
                     BufferKind kind, mlir::Value tensor,
                     mlir::AffineExpr offset = {});

  /// The buffer of a weight, as stored.
  mlir::FailureOr<uint32_t> addWeight(WeightOp op);

  /// Kernels for all functions of `calls` that are one; `lowered` has their
  /// workgroups.
  void addKernels(mlir::ModuleOp calls, mlir::Operation *lowered);
  uint32_t getKernel(llvm::StringRef name) const {
    return kernelOf.find(name.str())->second;
  }

  ModuleWriter &writer;

private:
  uint32_t push(BufferSpec buffer);
  /// Weight `base`, as stored, is `op`, which consists of `parts`. What one
  /// target reads joined and another by itself is in the file once.
  void shareBytes(WeightOp op, llvm::ArrayRef<const Weight *> parts,
                  uint32_t base);

  WeightMaker &weights;
  const EmitOptions &options;
  /// Keyed by name; names of packed weights include their format.
  std::map<std::string, uint32_t> bufferOf;
  /// Keyed by the name in the model: the weight with its bytes alone, and the
  /// joined weight with the offset of the bytes in it.
  std::map<std::string, uint32_t> aloneOf;
  std::map<std::string, std::pair<uint32_t, uint64_t>> joinedOf;
  std::map<std::string, uint32_t> kernelOf; ///< of this target
  uint32_t target = 0, rank = 0;
  std::string scope;
};

} // namespace gist

#endif // GIST_PASSES_EMIT_SPECBUILDER_H
