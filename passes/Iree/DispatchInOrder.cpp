//===- DispatchInOrder.cpp - Ops that visit tokens one by one -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "passes/Iree/Dispatch.h"

using namespace mlir;
using namespace gist;

/// Moves `op` into a dispatch that updates its destinations in place.
static void dispatch(DestinationStyleOpInterface op) {
  ValueBuilder b(op.getLoc(), op);
  SmallVector<Value> inputs = op.getDpsInputs();
  SmallVector<Value> outputs(op.getDpsInits());
  SmallVector<Value> results = iree::createDispatch(
      b, inputs, outputs, [&](ValueBuilder &b, ValueRange in, ValueRange out) {
        IRMapping mapping;
        mapping.map(inputs, in);
        mapping.map(outputs, out);
        Operation *copy = b.clone(*op, mapping);
        return llvm::to_vector_of<Value>(copy->getResults());
      });
  op->replaceAllUsesWith(results);
  op->erase();
}

void iree::dispatchInOrder(func::FuncOp function) {
  SmallVector<DestinationStyleOpInterface> ops;
  for (Operation &op : function.getBody().getOps())
    if (isa<ClusterUpdateOp, ClusterAbsorbOp>(op))
      ops.push_back(cast<DestinationStyleOpInterface>(op));
  for (DestinationStyleOpInterface op : ops)
    dispatch(op);
}
