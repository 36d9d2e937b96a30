//===- BufferBuilder.h - Writes loops that work on buffers ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For kernels that write where data says: no slice of a tensor describes that,
// so they take their destinations as buffers.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_BUFFERBUILDER_H
#define GIST_PASSES_TILE_CPU_BUFFERBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Tile/Cpu/TileBuilder.h"

namespace gist {

class BufferBuilder : public TileBuilder {
public:
  using TileBuilder::TileBuilder;

  /// Numbers in a vector where nothing else is said.
  static constexpr int64_t kLanes = 4;

  /// The buffer of a tensor that is only read.
  Value toBuffer(Value tensor);
  /// A tensor of what `buffer` holds now; nothing else may write the buffer.
  Value toTensor(Value buffer);
  /// A buffer of the kernel's own, on the stack.
  Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  Value load(Value buffer, mlir::ValueRange indices);
  /// An i32 as an index.
  Value loadIndex(Value buffer, mlir::ValueRange indices);
  void store(Value scalar, Value buffer, mlir::ValueRange indices);
  /// The f32 vector of numbers of any float buffer.
  Value loadF32(Value buffer, mlir::ValueRange indices, int64_t lanes = kLanes);
  /// The reverse, rounded to the buffer's type.
  void storeF32(Value vector, Value buffer, mlir::ValueRange indices);
  Value loadVector(Value buffer, mlir::ValueRange indices,
                   int64_t lanes = kLanes);
  void storeVector(Value vector, Value buffer, mlir::ValueRange indices);

  /// A word that workgroups share: what was written before a release is seen
  /// after an acquire that reads it.
  Value acquire(Value buffer, Value index);
  void release(Value word, Value buffer, Value index);
  /// Adds to the word and returns what it was.
  Value fetchAdd(Value word, Value buffer, Value index);
};

/// A tensor's buffer, as it is at the boundary of a kernel.
mlir::MemRefType getBufferType(mlir::Type tensor);

/// Lets a kernel take some of its tensor arguments as buffers and return
/// nothing. Code is written between construction and finish().
class BufferArguments {
public:
  explicit BufferArguments(mlir::func::FuncOp kernel) : kernel(kernel) {}
  /// Where writing the code failed, the kernel has its arguments as before.
  ~BufferArguments();

  /// The buffer that takes the place of an argument.
  mlir::Value get(mlir::BlockArgument tensor);
  /// Takes out everything on tensors that nothing reads any more.
  void finish(mlir::RewriterBase &rewriter);

private:
  mlir::func::FuncOp kernel;
  llvm::SmallVector<std::pair<unsigned, mlir::BlockArgument>> replaced;
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_BUFFERBUILDER_H
