//===- Selection.cpp - Kernels of selections on the CPU -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a selection's op says, the memory that it takes, and its workgroups.
// SelectionKernel.h writes their code.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/Selection.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Selections.h"
#include "passes/Tile/Cpu/SelectionKernel.h"
#include "runtime/format/Theta.h"

using namespace mlir;
using namespace gist;

static constexpr int64_t kLanes = BufferBuilder::kLanes;

namespace {
/// Finds the buffers of a selection.
class ProblemReader {
public:
  ProblemReader(BufferBuilder &b, func::FuncOp kernel,
                BufferArguments &arguments)
      : b(b), kernel(kernel), arguments(arguments) {}

  FailureOr<SelectionProblem> read(Operation *op) {
    SelectionProblem problem;
    LogicalResult status = success();
    if (auto select = dyn_cast<GramSelectOp>(op)) {
      problem.rule =
          select.getAgainst() == Against::All ? Rule::All : Rule::Kept;
      status = readOptions(select, problem);
    } else {
      auto update = cast<CascadeUpdateOp>(op);
      auto pack = update.getInherited().getDefiningOp<PackSelectionOp>();
      if (!pack || update.getRule() == CascadeRule::Inherit)
        return update.emitOpError(
            "passes a selection on, which does not need a kernel");
      problem.rule =
          update.getRule() == CascadeRule::Paper ? Rule::Paper : Rule::Kept;
      problem.oldNearest = b.toBuffer(pack.getNearest());
      if (problem.rule == Rule::Paper) {
        problem.oldIds = b.toBuffer(pack.getIds());
        problem.oldCount = b.toBuffer(pack.getCount());
      }
      status = readOptions(update, problem);
    }
    if (failed(status))
      return failure();
    auto getBuffer = [&](BlockArgument argument) {
      return arguments.get(argument);
    };
    problem.to = findSelectionBuffers(kernel, getBuffer);
    if (!problem.to.control || !problem.to.scratch || !problem.to.weight)
      return op->emitOpError("has no scratch memory");
    return problem;
  }

private:
  using Rule = SelectionProblem::Rule;

  template <typename OpTy>
  LogicalResult readOptions(OpTy op, SelectionProblem &problem) {
    auto isWhole = [](Value rows) {
      int64_t size = cast<RankedTensorType>(rows.getType()).getShape().back();
      return !ShapedType::isDynamic(size) && size % kLanes == 0;
    };
    if (op.getOffsets())
      return op.emitOpError("has offsets, which CPU kernels do not read yet");
    if (!isWhole(op.getTokens()) ||
        (op.getCoefficients() && !isWhole(op.getCoefficients())))
      return op.emitOpError("has rows whose size is not a multiple of ")
             << kLanes << " numbers";
    problem.similarity = op.getSimilarity();
    problem.isCausal = op.getCausal();
    problem.tokens = b.toBuffer(op.getTokens());
    if (op.getTau())
      problem.theta = thetaOfTau(op.getTau()->convertToFloat());
    else
      problem.taus = b.toBuffer(op.getTaus());
    if (op.getCoefficients()) {
      problem.coefficients = b.toBuffer(op.getCoefficients());
      problem.residuals = b.toBuffer(op.getResiduals());
    }
    return success();
  }

  BufferBuilder &b;
  func::FuncOp kernel;
  BufferArguments &arguments;
};
} // namespace

FailureOr<KernelScratch> gist::getSelectionScratch(func::FuncOp kernel) {
  Operation *op = findSelection(kernel);
  auto type = cast<SelectionType>(op->getResult(0).getType());
  int64_t heads = type.getHeads().value_or(1);
  FailureOr<SmallVector<AffineExpr>> sizes =
      getSizeExprs(kernel, op->getOperand(0));
  if (failed(sizes))
    return failure();
  KernelScratch scratch;
  scratch.tensors.push_back(
      {{sizes->front() * (heads * SelectionKernel::kNumArrays)},
       IntegerType::get(kernel.getContext(), 32)});
  scratch.controlWords = heads * SelectionKernel::kControlWords;
  // finishAll and the last ticket write zeros again.
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<scf::ForallOp> gist::distributeSelection(RewriterBase &rewriter,
                                                   Operation *op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
  BufferBuilder b(op->getLoc(), rewriter);
  BufferArguments arguments(kernel);
  FailureOr<SelectionProblem> problem =
      ProblemReader(b, kernel, arguments).read(op);
  if (failed(problem))
    return failure();
  SelectionKernel selection(b, *problem);
  OpFoldResult tokens =
      tensor::getMixedSize(b, op->getLoc(), op->getOperand(0), 0);
  auto forall =
      scf::ForallOp::create(b, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
                            {tokens, b.getIndexAttr(selection.countPhases() *
                                                    selection.getNumHeads())},
                            {b.getIndexAttr(kSelectRows), b.getIndexAttr(1)},
                            ValueRange(), std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    selection.emit();
  }
  arguments.finish(rewriter);
  return forall;
}
