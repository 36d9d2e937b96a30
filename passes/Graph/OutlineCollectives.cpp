//===- OutlineCollectives.cpp - What ranks do together --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call like any other, so that memory and order are planned as for kernels.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineCollectives.h"
#include "dialect/GistOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace gist;

/// The one function of this type and these columns or ranks.
static func::FuncOp getFunction(ModuleOp module, Location location,
                                StringRef name, FunctionType type,
                                ArrayRef<int64_t> columns,
                                ArrayRef<int64_t> handOn) {
  auto attribute = DenseI64ArrayAttr::get(module.getContext(), columns);
  DenseI64ArrayAttr ranks;
  if (!handOn.empty())
    ranks = DenseI64ArrayAttr::get(module.getContext(), handOn);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getFunctionType() == type &&
        function->getAttr(kCollectiveAttr) == attribute &&
        function->getAttr(kHandOnAttr) == ranks)
      return function;
  auto function = func::FuncOp::create(location, name, type);
  function.setPrivate();
  function->setAttr(kCollectiveAttr, attribute);
  if (ranks)
    function->setAttr(kHandOnAttr, ranks);
  SymbolTable(module).insert(function); // Which may change the name.
  return function;
}

static void outline(Operation *op, ArrayRef<int64_t> columns,
                    ArrayRef<int64_t> handOn = {}) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value part = op->getOperand(0);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), part);
  if (!columns.empty())
    sizes.back() = b.getIndexAttr(type.getShape().back());
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  func::FuncOp function = getFunction(
      op->getParentOfType<ModuleOp>(), op->getLoc(),
      op->getName().stripDialect(),
      b.getFunctionType({part.getType(), empty.getType()}, empty.getType()),
      columns, handOn);
  auto call = DispatchOp::create(
      b, TypeRange(empty.getType()),
      FlatSymbolRefAttr::get(function.getSymNameAttr()), part, empty);
  op->replaceAllUsesWith(call->getResults());
  op->erase();
}

void gist::outlineCollectives(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (isa<AllReduceOp>(op))
      outline(&op, {});
    else if (auto gather = dyn_cast<AllGatherOp>(op))
      outline(&op, llvm::to_vector(gather.getColumns()));
    else if (auto handOn = dyn_cast<HandOnOp>(op))
      outline(&op, {},
              {static_cast<int64_t>(handOn.getFrom()),
               static_cast<int64_t>(handOn.getTo())});
  }
}
