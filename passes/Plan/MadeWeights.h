//===- MadeWeights.h - Weights that a plan makes, in a graph ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `gist.weight` that no model has is defined by an op of the module
// (dialect/GistPlanOps.td). Passes add such definitions; what they define is
// computed when a module is written.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_MADEWEIGHTS_H
#define GIST_PASSES_PLAN_MADEWEIGHTS_H

#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Plan/File/DepthPlan.h"
#include "passes/Plan/File/LinearWeights.h"

#include <map>

namespace gist {

/// A weight of `rows` x `columns` numbers in the format of `what`, and its
/// definition, with the file `bases`, in the module of the builder.
WeightOp createMadeWeight(mlir::ImplicitLocOpBuilder &b, const MadeWeight &what,
                          llvm::StringRef bases, int64_t rows, int64_t columns);

/// The same for a weight of the same type as another.
WeightOp createMadeWeight(mlir::ImplicitLocOpBuilder &b, const MadeWeight &what,
                          llvm::StringRef bases, mlir::RankedTensorType type);

/// A weight of `layer` called `name` of these numbers, and its definition.
WeightOp createConstantWeight(mlir::ImplicitLocOpBuilder &b,
                              llvm::StringRef name, int64_t layer,
                              llvm::ArrayRef<float> numbers);

/// A weight of `layer` called `name` with the first `k` rows of a basis in f32,
/// k x d, and its definition.
WeightOp createBasisWeight(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name,
                           int64_t layer, llvm::StringRef basis,
                           llvm::StringRef bases, int64_t k, int64_t d);

/// The numbers of a weight of `layer`, of this type, that `tensor` in the file
/// `maps` defines, alone or as rows of the weight `source`; and its definition.
/// Matrices are f16, or with `inBlocks` 8 bits where their rows are whole
/// blocks.
mlir::Value createFittedWeight(mlir::ImplicitLocOpBuilder &b, int64_t layer,
                               llvm::StringRef tensor, llvm::StringRef maps,
                               llvm::ArrayRef<int64_t> shape, bool inBlocks);
WeightOp createPickedWeight(mlir::ImplicitLocOpBuilder &b, WeightOp source,
                            llvm::StringRef tensor, llvm::StringRef maps,
                            int64_t rows);

/// The weight that `numbers` are read or dequantised from, or null.
WeightOp getWeightOf(mlir::Value numbers);

/// A basis of d x k numbers as k x d. A made weight is stored both ways, each
/// rounded separately; any other is transposed here.
mlir::Value createTransposedBasis(mlir::ImplicitLocOpBuilder &b,
                                  mlir::Value basis);

/// Computes what ops define.
class WeightMaker {
public:
  explicit WeightMaker(const WeightMap &model) : model(model) {}

  /// Maps that are not fitted yet are zeros from now on.
  void allowUnfitted() { isFitting = true; }

  /// Sets `weight` to what is called `name`: a weight of the model, or one that
  /// an op of `module` defines. It lives as long as this and the model's do.
  Status find(mlir::ModuleOp module, llvm::StringRef name,
              const Weight *&weight);

  /// Asks the files of bases and maps for everything that `module` needs, so
  /// that an unsuitable file is refused before anything is compiled.
  Status checkFiles(mlir::ModuleOp module);

private:
  Status open(llvm::StringRef path, const LinearBases *&file);
  Status openMaps(llvm::StringRef path, const DepthMaps *&file);
  Status make(MadeWeightOp op, Weight &weight);
  Status make(FittedWeightOp op, Weight &weight);
  Status makePart(mlir::ModuleOp module, WeightPartOp op, Weight &weight);

  const WeightMap &model;
  bool isFitting = false;
  std::map<std::string, Weight> made;
  std::map<std::string, LinearBases> files;
  std::map<std::string, DepthMaps> maps;
};

} // namespace gist

#endif // GIST_PASSES_PLAN_MADEWEIGHTS_H
