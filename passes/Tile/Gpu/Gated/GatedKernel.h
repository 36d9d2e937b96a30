//===- GatedKernel.h - The kernel of gates of a few tokens ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch. Every workgroup has some rows of every W and M; the work on V,
// which all need, is cut into items that workgroups draw (SharedSteps.h):
//
//   g            sums over some rows of V, for some of its columns
//   (loads of the rows of M are in flight from here on)
//   wait; every workgroup adds up what it needs of g: all
//   residual     x - V g for some rows of V, and its share of the norms
//   M g          in workgroup memory
//   wait; every workgroup adds up the norms and so knows the levels
//   W x          instead, only if the level of a token asks for it
//
// V comes from memory once and from the cache the second time. All sums have a
// fixed order, so that workgroups agree on the levels and results repeat.
//
// The tile is a #gist.gpu_gated.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_GATED_GATEDKERNEL_H
#define GIST_PASSES_TILE_GPU_GATED_GATEDKERNEL_H

#include "passes/Tile/Gpu/Gated/Gated.h"
#include "passes/Tile/Gpu/Matmul/RowSums.h"

#include <optional>
#include <vector>

namespace gist {

class GatedKernel {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Parts of g that are added up, at most; and items of the residual.
  static constexpr int64_t kMaxParts = 32, kMaxItems = 512;
  /// The length of a row of the residual is a multiple of this, so that a piece
  /// of a block format fits.
  static constexpr int64_t kRowUnit = 32;

  /// Words of scratch, f32, that a call needs on any GPU.
  static int64_t getScratchWords(GatedProjectionOp op);

  GatedKernel(GpuKernel &kernel, GatedProjectionOp op)
      : kernel(kernel), b(kernel.b), emitter(kernel.emitter), op(op),
        target(mlir::cast<mlir::func::FuncOp>(b.getBlock()->getParentOp())),
        tokens(op.getInput().getType().getDimSize(0)),
        basis(emitter, op.getBasis()),
        depth(op.getBasis().getType().getDimSize(0)),
        rank(op.getBasis().getType().getDimSize(1)),
        paddedDepth(llvm::alignTo(depth, kRowUnit)),
        isGraded(!op.getLow().empty()) {}

  mlir::FailureOr<GpuGrid> emit();

private:
  /// What a workgroup has of one of the projections.
  struct Projection {
    Operand weight, image;
    std::optional<Operand> low;
    Value bias;    ///< a tensor of the kernel, or null
    Value output;  ///< the buffer of the result
    int64_t count; ///< rows of a workgroup
    int64_t place; ///< of the first of them among all of the workgroup
    Value first;   ///< number of the first
  };
  /// What an item of the residual has of a token's norms: the squares of the
  /// residual and of x, and whether x has an element that is not zero.
  /// The last is a flag because the square of a small x may underflow to zero.
  enum Norm : int64_t { kResidual, kInput, kNonZero, kNumNorms };

  mlir::LogicalResult readArguments();
  void planItems();

  // Places in the scratch memory.
  Value getPartPlace(Value part, Value token, Value column) {
    Value row = b.add(b.mul(part, tokens), token);
    return b.add(b.mul(row, rank), column);
  }
  Value getInputPlace(Value token, Value row) {
    return b.add(b.add(b.mul(token, paddedDepth), row),
                 kMaxParts * tokens * rank);
  }
  Value getResidualPlace(Value token, Value row) {
    return b.add(getInputPlace(token, row), tokens * paddedDepth);
  }
  Value getNormPlace(Value item, Value number) {
    int64_t rows = isGraded ? 2 : 1;
    return b.add(b.add(b.mul(item, tokens * kNumNorms), number),
                 tokens * (kMaxParts * rank + rows * paddedDepth));
  }

  void askForBasis();
  void addToImage(Value item);
  void loadImages();
  void collectImage();
  Values loadBasis(RowSums &rows, Value item);
  void computeResidual(RowSums &rows, Value item, mlir::ValueRange loaded);
  void multiplyImages();
  void decideLevels();
  void multiplyRows();
  void multiplyRows(Projection &projection, Operand &matrix, int64_t level);
  void storeResults();

  Value getImagePiece(int64_t token, Value k, int64_t width);
  Value getRowPiece(int64_t token, Value k, int64_t width, bool isResidual);
  Value getInput(Value token, Value row) {
    return b.toF32(emitter.element(op.getInput(), {token, row}));
  }
  /// Calls `body` for numbers below `count`, shared by all threads.
  void forThreads(int64_t count, llvm::function_ref<void(Value)> body) {
    int64_t threads = b.getThreads();
    for (int64_t first = 0; first < count; first += threads) {
      Value i = b.add(b.thread(), first);
      Value isInside =
          first + threads > count
              ? b.isLess(i, count)
              : mlir::arith::ConstantIntOp::create(b, b.getI1Type(), 1)
                    .getResult();
      b.ifThen(isInside, [&] { body(i); });
    }
  }
  Value allocF32(llvm::ArrayRef<int64_t> shape) {
    return b.allocWorkgroup(shape, b.getF32Type());
  }

  GpuKernel &kernel;
  GpuBuilder &b;
  ElementEmitter &emitter;
  GatedProjectionOp op;
  mlir::func::FuncOp target;
  int64_t tokens;
  Operand basis;
  int64_t depth, rank, paddedDepth;
  bool isGraded;

  Value control, number, scratch, levelBuffer;
  std::vector<Projection> projections;
  int64_t workgroups = 0;

  // Items of g: lanes along a row of V, rows at once, rows of an item.
  int64_t columnLanes = 0, rowsAtOnce = 0, rowsOfPart = 0;
  int64_t partsOfRows = 0, partsOfColumns = 0;
  // Items of the residual.
  int64_t residualEach = 0, residualRows = 0, residualItems = 0;

  llvm::SmallVector<RowSums> images; ///< of the projections
  llvm::SmallVector<Values> loaded;  ///< their first rows
  Value image; ///< workgroup memory: g, tokens x paddedRank
  int64_t paddedRank = 0;
  Value sums;    ///< workgroup memory: rows of this workgroup x tokens
  Values levels; ///< i32
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GATED_GATEDKERNEL_H
