//===- SliceGraph.h - Parts of the values of a graph ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_RANKS_SLICEGRAPH_H
#define GIST_PASSES_RANKS_SLICEGRAPH_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Ranks/Shares.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <tuple>

namespace gist {

/// Computes parts of values from parts of what they are made of, down to
/// weights and caches. A part is a range of one dimension. The ops that
/// computed the whole value stay; the caller erases them after replacing their
/// uses.
class GraphSlicer {
public:
  /// A slicer that does not `build` only says whether a part can be had.
  GraphSlicer(mlir::ModuleOp module, bool build)
      : module(module), build(build) {}

  /// The part `range` of dimension `axis`. Fails if an op cannot be sliced, and
  /// may then leave unused ops.
  mlir::FailureOr<mlir::Value> slice(mlir::Value value, int64_t axis,
                                     Share range);

  /// What is left of an argument of the function, and of which dimension.
  struct Kept {
    int64_t axis;
    Share range;
  };
  const std::map<unsigned, Kept> &arguments() const { return kept; }

private:
  mlir::FailureOr<mlir::Value> visit(mlir::Value value, int64_t axis,
                                     Share range);
  mlir::FailureOr<mlir::Value> visitArgument(mlir::BlockArgument argument,
                                             int64_t axis, Share range);
  mlir::FailureOr<mlir::Value> visitOp(WeightOp op, int64_t axis, Share range);
  mlir::FailureOr<mlir::Value> visitOp(DequantizeOp op, int64_t axis,
                                       Share range);
  mlir::FailureOr<mlir::Value> visitOp(mlir::tensor::EmptyOp op, int64_t axis,
                                       Share range);
  mlir::FailureOr<mlir::Value> visitOp(mlir::tensor::ExpandShapeOp op,
                                       int64_t axis, Share range);
  mlir::FailureOr<mlir::Value> visitOp(mlir::tensor::CollapseShapeOp op,
                                       int64_t axis, Share range);
  mlir::FailureOr<mlir::Value> visitOp(mlir::tensor::ExtractSliceOp op,
                                       int64_t axis, Share range);
  mlir::FailureOr<mlir::Value> visitOp(mlir::tensor::InsertSliceOp op,
                                       int64_t axis, Share range);
  mlir::FailureOr<mlir::Value> visitOp(mlir::linalg::LinalgOp op, int64_t axis,
                                       Share range);
  mlir::FailureOr<mlir::Value> visitOp(AttentionOp op, int64_t axis,
                                       Share range);

  /// `op` again, on other operands and with `range` of its result.
  mlir::Value rebuild(mlir::Operation *op, mlir::ValueRange operands,
                      int64_t axis, Share range);

  mlir::ModuleOp module;
  bool build;
  using Key = std::tuple<void *, int64_t, int64_t, int64_t>;
  std::map<Key, mlir::FailureOr<mlir::Value>> known;
  std::map<unsigned, Kept> kept; ///< by the number of the argument
  llvm::StringSet<> parts;       ///< weights that this function reads
};

} // namespace gist

#endif // GIST_PASSES_RANKS_SLICEGRAPH_H
