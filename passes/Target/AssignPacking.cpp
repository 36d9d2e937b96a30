//===- AssignPacking.cpp - The pass -gist-assign-packing ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Passes.h"
#include "passes/Target/PackWeights.h"
#include "passes/Target/TargetInfo.h"

namespace gist {
#define GEN_PASS_DEF_ASSIGNPACKINGPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct AssignPackingPass final
    : gist::impl::AssignPackingPassBase<AssignPackingPass> {
  using Base::Base;

  /// Gives `op` a packed weight of its own; the stored one stays for readers
  /// that want it as it is, and is dropped when there are none.
  void pack(QuantizedMatmulOp op, WeightOp weight, const TargetInfo &target) {
    IRRewriter rewriter(op);
    PackingAttr packing = getPacking(&getContext(), op.getFormat(), target);
    auto stored = cast<RankedTensorType>(weight.getResult().getType());
    auto type = RankedTensorType::get(
        packing.getPackedShape(stored.getDimSize(0),
                               op.getValues().getType().getDimSize(1)),
        stored.getElementType());
    rewriter.setInsertionPointAfter(weight);
    auto packed =
        WeightOp::create(rewriter, weight.getLoc(), type, weight.getNameAttr());
    packed->setAttr(kFormatAttr, op.getFormatAttr());
    packed->setAttr(kPackingAttr, packing);
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightMutable().assign(packed.getResult());
      op.setPackedAttr(packing);
    });
    if (weight->use_empty())
      rewriter.eraseOp(weight);
  }

  void runOnOperation() override {
    FailureOr<TargetInfo> target =
        getTargetInfo({triple, cpu, features}, [&](const Twine &message) {
          getOperation()->emitError(message);
        });
    if (failed(target))
      return signalPassFailure();
    SmallVector<QuantizedMatmulOp> products;
    getOperation()->walk([&](QuantizedMatmulOp op) {
      if (!op.getPackedAttr())
        products.push_back(op);
    });
    for (QuantizedMatmulOp op : products)
      if (auto weight = op.getWeight().getDefiningOp<WeightOp>())
        pack(op, weight, *target);
  }
};
} // namespace
