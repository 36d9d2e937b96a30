//===- ElementEmitter.h - Elements of tensors on demand ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel function says in tensors what is to be computed. A generator decides
// which thread computes which elements, and gets their values here: the code
// that computes an element is written by walking back from its tensor through
// elementwise ops, views and block formats to what the kernel reads. So a
// generator has any prologue and epilogue fused without knowing it. Tensors
// whose elements the generator has already, such as an accumulator or the sum
// of a row, are bound.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ELEMENTS_ELEMENTEMITTER_H
#define GIST_PASSES_TILE_GPU_ELEMENTS_ELEMENTEMITTER_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/Gpu/Core/GpuBuilder.h"

#include <functional>
#include <map>

namespace gist {

/// A tensor that is a view of a buffer.
struct MemoryAccess {
  using Values = llvm::SmallVector<mlir::Value>;

  mlir::Value buffer;
  /// How far elements are apart in the buffer, per dimension of the tensor;
  /// kDynamic where that is not known.
  llvm::SmallVector<int64_t> strides;
  /// Where in the buffer the element at indices of the tensor is.
  std::function<Values(mlir::ValueRange)> at;

  /// True if neighbours along the last dimension are neighbours in memory.
  bool isContiguous() const { return !strides.empty() && strides.back() == 1; }
};

/// The tensor of which all elements are to be written for a result of `kernel`:
/// what it returns or, where that is the destination with a part replaced, that
/// part.
mlir::Value getWrittenTensor(mlir::func::FuncOp kernel, unsigned result);

class ElementEmitter {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Values = llvm::SmallVector<Value>;
  /// The element at indices, or for `width` > 1 the vector of `width`
  /// neighbours along the last dimension; null if it is not available, and then
  /// it is computed (a vector is first requested element by element). What a
  /// function writes must be right under a branch that not all threads take.
  using Element = std::function<Value(ValueRange indices, int64_t width)>;

  /// Computes tensors of `kernel`, of whose arguments `arguments` are the
  /// buffers and numbers in the function that `b` writes.
  ElementEmitter(GpuBuilder &b, mlir::func::FuncOp kernel,
                 ValueRange arguments);

  /// Elements of `tensor` are had from `element` from now on.
  void bind(Value tensor, Element element);
  void unbind(Value tensor);

  /// The element of a tensor of the kernel at indices that it has.
  Value element(Value tensor, ValueRange indices);
  /// The vector of `width` elements from `indices` on along the last
  /// dimension, all of which the tensor has.
  Value elements(Value tensor, ValueRange indices, int64_t width);

  /// What the body of `op` yields in the iteration `loops`; with `inner`, in
  /// the `width` iterations from there on along that loop, as vectors.
  /// `carried` are the values of its results so far; if it is empty, those of
  /// its destinations.
  Values iterate(mlir::linalg::LinalgOp op, ValueRange loops,
                 std::optional<unsigned> inner, int64_t width,
                 ValueRange carried);
  /// How often a loop of `op` runs.
  Value getLoopSize(mlir::linalg::LinalgOp op, unsigned dim);

  /// The value of a number that the kernel function computes outside of linalg
  /// ops: an index, or a scalar.
  Value number(Value scalar);
  Value number(mlir::OpFoldResult scalar);
  Value size(Value tensor, int64_t dim);
  Values sizes(Value tensor);

  /// The buffer that `tensor` is nothing but a view of.
  std::optional<MemoryAccess> asMemory(Value tensor);

  /// The tensor of which all elements are to be written for a result.
  Value getWritten(unsigned result) { return getWrittenTensor(kernel, result); }
  /// The sizes of that tensor, in the kernel function.
  llvm::SmallVector<mlir::OpFoldResult> getWrittenSizes(unsigned result);
  /// Writes an element, or a vector along the last dimension, of that tensor
  /// into the destination of the result, rounded to its element type.
  void store(unsigned result, ValueRange indices, Value value);

  /// Whether something was asked for that could not be computed; the error has
  /// been reported at the op.
  bool hasFailed() const { return failed; }

  GpuBuilder &getBuilder() { return b; }

  /// Whether values are one value or equal constants, pairwise.
  static bool areSame(ValueRange a, ValueRange b);

private:
  using Key = std::vector<std::pair<const void *, int64_t>>;

  /// A scalar for `width` one, else a vector.
  Value get(Value tensor, ValueRange indices, int64_t width);
  Value compute(Value tensor, ValueRange indices, int64_t width);
  /// The same, `piece` elements at a time.
  Value getInPieces(Value tensor, ValueRange indices, int64_t width,
                    int64_t piece);
  Value readBuffer(Value buffer, ValueRange indices, int64_t width);

  Value getStructured(mlir::linalg::LinalgOp op, unsigned result,
                      ValueRange indices, int64_t width);
  Value getOperand(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                   ValueRange loops, std::optional<unsigned> inner,
                   int64_t width);

  Value getSlice(mlir::tensor::ExtractSliceOp op, ValueRange indices,
                 int64_t width);
  Value getInserted(mlir::tensor::InsertSliceOp op, ValueRange indices,
                    int64_t width);
  Value getInterleaved(mlir::tensor::InsertSliceOp op, ValueRange indices,
                       int64_t width);
  Value getPadded(mlir::tensor::PadOp op, ValueRange indices, int64_t width);
  Value getCollapsed(mlir::tensor::CollapseShapeOp op, ValueRange indices,
                     int64_t width);
  Value getExpanded(mlir::tensor::ExpandShapeOp op, ValueRange indices,
                    int64_t width);
  Value getDequantized(DequantizeOp op, ValueRange indices, int64_t width);
  Value getAttention(AttentionOp op, ValueRange indices);

  Values getSliceIndices(mlir::OffsetSizeAndStrideOpInterface op,
                         const llvm::SmallBitVector &dropped,
                         ValueRange indices);

  /// Remembered values, where they can be used at the insertion point.
  Key getKey(Value tensor, ValueRange indices, int64_t width);
  Value recall(const Key &key);
  void forget(Value tensor);
  bool isVisible(Value value);

  Value fail(Value tensor, int64_t width);

  GpuBuilder &b;
  mlir::func::FuncOp kernel;
  llvm::DenseMap<Value, Value> arguments;
  llvm::DenseMap<Value, Element> bound;
  std::map<Key, Value> known;
  bool failed = false;
};

/// Values of a block that neighbouring bytes hold and that share their scale.
int64_t getBlockRun(BlockFormat format);

/// `width` values of a block from number `i` on, in f32; all of them are in one
/// run. `readBytes(offset, count)` gives bytes of the block.
mlir::Value
dequantize(GpuBuilder &b, BlockFormat format, mlir::Value i, int64_t width,
           llvm::function_ref<mlir::Value(mlir::Value, int64_t)> readBytes);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ELEMENTS_ELEMENTEMITTER_H
