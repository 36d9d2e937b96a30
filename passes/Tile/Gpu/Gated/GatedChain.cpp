//===- GatedChain.cpp - Products of rows of certain levels ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Gated/GatedChain.h"
#include "mlir/IR/Matchers.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;
using namespace gist;

/// Sees through the op that keeps the rows of a level, or of those below it.
static bool readMask(GatedLink &link, Value &levels) {
  auto mask = link.rows.getDefiningOp<linalg::GenericOp>();
  if (!mask || mask.getNumDpsInputs() != 2 ||
      mask.getNumLoops() != mask.getNumParallelLoops())
    return false;
  auto keys = dyn_cast<RankedTensorType>(mask.getInputs()[0].getType());
  auto yield = cast<linalg::YieldOp>(mask.getBody()->getTerminator());
  auto select = yield.getValues()[0].getDefiningOp<arith::SelectOp>();
  auto compare =
      select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  APInt level;
  if (!keys || keys.getRank() != 1 || !compare ||
      (compare.getPredicate() != arith::CmpIPredicate::eq &&
       compare.getPredicate() != arith::CmpIPredicate::slt) ||
      compare.getLhs() != mask.getBody()->getArgument(0) ||
      !matchPattern(compare.getRhs(), m_ConstantInt(&level)) ||
      select.getTrueValue() != mask.getBody()->getArgument(1) ||
      !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return false;
  levels = mask.getInputs()[0];
  link.rows = mask.getInputs()[1];
  bool isOne = compare.getPredicate() == arith::CmpIPredicate::eq;
  link.lowest = isOne ? level.getSExtValue() : 0;
  link.highest = level.getSExtValue() - (isOne ? 0 : 1);
  return true;
}

std::optional<GatedChain> gist::readGatedChain(func::FuncOp kernel) {
  GatedChain chain;
  for (auto op : kernel.getOps<linalg::LinalgOp>()) {
    if (!isTransposedMatmul(op))
      continue;
    GatedLink link = {op, op.getDpsInputs()[0], op.getDpsInputs()[1]};
    Value start = op.getDpsInits()[0];
    if (!readMask(link, chain.levels) ||
        (!chain.links.empty() &&
         start != chain.links.back().product->getResult(0)))
      return std::nullopt;
    chain.links.push_back(link);
  }
  if (chain.links.size() < 2)
    return std::nullopt;
  return chain;
}
