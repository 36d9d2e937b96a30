//===- Kernels.cpp - Kernel functions -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Kernels.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "passes/Kernel/Linears.h"

using namespace mlir;
using namespace gist;

CpuTileInterface gist::getKernelTile(Operation *op) {
  auto kernel = isa<func::FuncOp>(op) ? cast<func::FuncOp>(op)
                                      : op->getParentOfType<func::FuncOp>();
  return kernel ? kernel->getAttrOfType<CpuTileInterface>(kTileAttr)
                : CpuTileInterface();
}

LogicalResult gist::refuseTile(func::FuncOp kernel,
                               ArrayRef<StringRef> families) {
  Attribute tile = kernel->getAttr(kTileAttr);
  if (!tile)
    return kernel.emitError("has no tile configuration");
  InFlightDiagnostic error = kernel.emitError("expects a tile of the family ");
  llvm::interleave(
      families, error, [&](StringRef name) { error << "#" << name; }, " or ");
  error << " for what it computes, got " << tile;
  return error;
}

bool gist::isTransposedMatmul(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !linalg::isaContractionOpInterface(op))
    return false;
  // Products of integers are computed by their definition.
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<FloatType>(getElementTypeOrSelf(operand));
        !type || type.getWidth() > 32)
      return false;
  return op.getIndexingMapsArray() == getTransposedMaps(op.getContext());
}

SmallVector<AffineMap> gist::getTransposedMaps(MLIRContext *context) {
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  return AffineMap::inferFromExprList(
      ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {n, k}, {m, n}}, context);
}

linalg::MatmulOp gist::createTransposedMatmul(ImplicitLocOpBuilder &b,
                                              Value rows, Value weight,
                                              Value init) {
  ArrayAttr maps = b.getAffineMapArrayAttr(getTransposedMaps(b.getContext()));
  return linalg::MatmulOp::create(
      b, TypeRange(init.getType()), ValueRange{rows, weight}, ValueRange(init),
      ArrayRef<NamedAttribute>{b.getNamedAttr("indexing_maps", maps)});
}

Value gist::createLinear(ImplicitLocOpBuilder &b, Value rows, Value weight) {
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(b, b.getLoc(), rows, 0),
      tensor::getMixedSize(b, b.getLoc(), weight, 0)};
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(b, sizes, b.getF32Type());
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  return createTransposedMatmul(b, rows, weight, init).getResult(0);
}

linalg::LinalgOp gist::findTransposedMatmul(func::FuncOp kernel) {
  linalg::LinalgOp last;
  kernel.walk([&](linalg::LinalgOp op) {
    if (isTransposedMatmul(op))
      last = op;
  });
  return last;
}

/// Follows `size` back to the kernel's arguments; fails without a message.
static FailureOr<AffineExpr>
computeSize(func::FuncOp kernel,
            const ValueBoundsConstraintSet::Variable &size) {
  MLIRContext *context = kernel.getContext();
  AffineMap map;
  ValueDimList operands;
  // Only what a call passes is known before the kernel runs.
  auto isArgument = [](Value value, std::optional<int64_t>,
                       ValueBoundsConstraintSet &) {
    return isa<BlockArgument>(value);
  };
  if (failed(ValueBoundsConstraintSet::computeBound(
          map, operands, presburger::BoundType::EQ, size, isArgument)))
    return failure();

  // Numbers in the order of their slots: index arguments, dynamic sizes.
  DenseMap<std::pair<Value, int64_t>, unsigned> numbers;
  for (BlockArgument argument : kernel.getArguments())
    if (argument.getType().isIndex())
      numbers.insert({{argument, -1}, numbers.size()});
  for (BlockArgument argument : kernel.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          numbers.insert({{argument, dim}, numbers.size()});
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto found = numbers.find({operand.first, operand.second.value_or(-1)});
    if (found == numbers.end())
      return failure();
    AffineExpr symbol = getAffineSymbolExpr(found->second, context);
    (i < map.getNumDims() ? dims : symbols).push_back(symbol);
  }
  return map.getResult(0).replaceDimsAndSymbols(dims, symbols);
}

FailureOr<AffineExpr> gist::getSizeExpr(func::FuncOp kernel,
                                        OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return getAffineConstantExpr(*constant, kernel.getContext());
  return computeSize(kernel, size);
}

FailureOr<SmallVector<AffineExpr>> gist::getSizeExprs(func::FuncOp kernel,
                                                      Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<AffineExpr> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      sizes.push_back(
          getAffineConstantExpr(type.getDimSize(dim), kernel.getContext()));
      continue;
    }
    FailureOr<AffineExpr> size = computeSize(kernel, {tensor, dim});
    if (failed(size))
      return kernel.emitError("has a ")
             << type
             << " whose sizes do not follow from the kernel's arguments";
    sizes.push_back(*size);
  }
  return sizes;
}

ArrayAttr gist::getGridAttr(func::FuncOp kernel, ArrayRef<AffineExpr> sizes) {
  int64_t numbers = 0;
  for (Type type : kernel.getArgumentTypes())
    numbers += type.isIndex() ? 1 : cast<ShapedType>(type).getNumDynamicDims();
  SmallVector<Attribute> grid;
  // Maps have all numbers as symbols, also those that a size does not use, so
  // that Emit can replace them by position.
  for (AffineExpr size : sizes)
    grid.push_back(AffineMapAttr::get(
        AffineMap::get(0, numbers, size, kernel.getContext())));
  return ArrayAttr::get(kernel.getContext(), grid);
}

// Looks only through views that keep all elements.
bool gist::isSlice(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::ExtractSliceOp>(op))
      return true;
    if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

BlockArgument gist::getUpdatedArgument(Value value) {
  // insert_slice before kernels are formed, calls of kernels after that.
  while (!isa<BlockArgument>(value)) {
    if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
      value = insert.getDest();
    else if (auto dispatch = value.getDefiningOp<DispatchOp>())
      value = dispatch.getOutputs()[cast<OpResult>(value).getResultNumber()];
    else
      return {};
  }
  return cast<BlockArgument>(value);
}
