//===- Select.cpp - Kernels that select representatives -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generator of gist.gram_select and gist.cascade_update, and how they are
// cut. The kernel's last two destinations are memory to work in (getScratch):
// an array of words, and words of control, which are zero and are left so.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/Select.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Select/SelectKernel.h"
#include "runtime/format/Theta.h"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Tokens of a tile along its rows; as many or twice as many are along its
/// columns, as registers allow.
static constexpr int64_t kRows = 128;
/// Numbers of f16 that a copy of 16 bytes has.
static constexpr int64_t kCopied = 8;

GpuSelectionAttr gist::selectSelectionTile(func::FuncOp kernel,
                                           const GpuInfo &gpu, bool isSmall) {
  MLIRContext *context = kernel.getContext();
  Operation *selection = findSelection(kernel);
  auto tokens = cast<RankedTensorType>(selection->getOperand(0).getType());
  Type element = tokens.getElementType();
  bool isSplit = element.isF32();
  if (isSplit)
    element = Float16Type::get(context);
  // On sm_90 more loads take longer: the code is that much longer, and runs
  // once.
  int64_t group = gpu.kind == GpuKind::Nvidia ? 4 : 8;
  int64_t loads = gpu.kind == GpuKind::Nvidia ? 4 : 8;
  auto getTile = [&](int64_t columns, int64_t depth, ArrayRef<int64_t> waves,
                     int64_t stages, Instruction instruction) {
    return GpuSelectionAttr::get(context, kRows, columns, depth, waves, stages,
                                 instruction, element, group, loads);
  };
  if (isSmall) { // The target's attribute says that its GPU multiplies it.
    element = Float8E4M3FNUZType::get(context);
    return getTile(2 * kRows, 64, {2, 2}, 2, Instruction::Mfma32x32x16);
  }
  // What is split is staged twice, and so in half the depth or less.
  if (gpu.kind == GpuKind::Amd)
    return isSplit
               ? getTile(kRows, 16, {2, 2}, 2, Instruction::Mfma32x32x8)
               : getTile(2 * kRows, 32, {2, 2}, 2, Instruction::Mfma32x32x8);
  // Rows that cannot be copied in chunks of 16 bytes go through registers.
  if (!isSplit && tokens.getShape().back() % kCopied == 0)
    return getTile(kRows, 64, {8, 1}, 4, Instruction::Wgmma64x128x16);
  return isSplit ? getTile(kRows / 2, 32, {4, 2}, 2, Instruction::Mma16x8x16)
                 : getTile(kRows, 64, {2, 4}, 3, Instruction::Mma16x8x16);
}

/// Whether the generator supports a tile, which may be written by hand, for the
/// rows of this selection on this GPU.
static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (failed(expectTile<GpuSelectionAttr>(kernel)))
    return failure();
  auto tile = cast<GpuSelectionAttr>(kernel->getAttr(kTileAttr));
  Operation *selection = findSelection(kernel);
  auto tokens = cast<RankedTensorType>(selection->getOperand(0).getType());
  Type stored = tokens.getElementType(), element = tile.getElement();
  bool isSmall = isa<Float8E4M3FNUZType>(element);
  if (isSmall && !gpu.multipliesF8)
    return selection->emitOpError("compares rows in f8E4M3FNUZ, which ")
           << gpu.name << " cannot multiply";
  if (!isSmall && element != stored && !(stored.isF32() && element.isF16()))
    return selection->emitOpError("cannot compare rows of ")
           << stored << " in " << element;
  bool isNvidia = tile.getInstruction() == Instruction::Mma16x8x16 ||
                  tile.getInstruction() == Instruction::Wgmma64x128x16;
  bool isThere = isNvidia == (gpu.kind == GpuKind::Nvidia);
  // Rows are copied in chunks of 16 bytes, as they are.
  if (tile.getInstruction() == Instruction::Wgmma64x128x16)
    isThere &= element == stored && tokens.getShape().back() % kCopied == 0;
  if (isThere)
    return success();
  return selection->emitOpError("cannot compare rows of ")
         << tokens.getShape().back() << " x " << stored << " by "
         << stringifyInstruction(tile.getInstruction()) << " of " << element
         << " on " << gpu.name;
}

//===----------------------------------------------------------------------===//
// Generator
//===----------------------------------------------------------------------===//

namespace {
/// Finds the buffers of a selection among the arguments of its kernel.
class ProblemReader {
public:
  ProblemReader(func::FuncOp source, func::FuncOp target)
      : source(source), target(target) {}

  FailureOr<SelectProblem> read(Operation *op) {
    SelectProblem problem;
    if (auto select = dyn_cast<GramSelectOp>(op)) {
      problem.rule = select.getAgainst() == Against::All ? SelectRule::All
                                                         : SelectRule::Kept;
      readOptions(select, problem);
    } else {
      auto update = cast<CascadeUpdateOp>(op);
      if (update.getRule() == CascadeRule::Inherit)
        return update.emitOpError(
            "passes a selection on, which does not need a kernel");
      problem.rule = update.getRule() == CascadeRule::Paper
                         ? SelectRule::Paper
                         : SelectRule::Covering;
      readOptions(update, problem);
      auto pack = update.getInherited().getDefiningOp<PackSelectionOp>();
      if (!pack)
        return update.emitOpError(
            "inherits a selection that does not consist of tensors");
      problem.oldIds = getBuffer(pack.getIds());
      problem.oldCount = getBuffer(pack.getCount());
      if (!problem.oldIds || !problem.oldCount)
        return update.emitOpError(
            "inherits a selection that is not an argument of the kernel");
    }
    problem.to = findSelectionBuffers(source, [&](BlockArgument argument) {
      return target.getArgument(argument.getArgNumber());
    });
    if (!problem.tokens)
      return op->emitOpError(
          "selects among rows that are not an argument of the kernel");
    if (hasTaus(op) && !problem.taus)
      return op->emitOpError(
          "reads a tau for each head that is not an argument of the kernel");
    if (!problem.to.control || !problem.to.scratch || !problem.to.ids ||
        !problem.to.count)
      return op->emitOpError("has no scratch memory");
    return problem;
  }

private:
  static bool hasTaus(Operation *op) {
    auto select = dyn_cast<GramSelectOp>(op);
    return bool(select ? select.getTaus()
                       : cast<CascadeUpdateOp>(op).getTaus());
  }

  template <typename Op> void readOptions(Op op, SelectProblem &problem) {
    problem.similarity = op.getSimilarity();
    problem.isCausal = op.getCausal();
    problem.tokens = getBuffer(op.getTokens());
    if (op.getTau())
      problem.theta = thetaOfTau(op.getTau()->convertToFloat());
    else
      problem.taus = getBuffer(op.getTaus());
    if (op.getOffsets())
      problem.offsets = getBuffer(op.getOffsets());
  }

  Value getBuffer(Value tensor) {
    while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
      tensor = cast.getSource();
    auto argument = dyn_cast<BlockArgument>(tensor);
    return argument ? target.getArgument(argument.getArgNumber()) : Value();
  }

  func::FuncOp source, target;
};
} // namespace

FailureOr<GpuGrid> gist::emitSelection(GpuKernel &kernel) {
  GpuBuilder &b = kernel.b;
  auto target = cast<func::FuncOp>(b.getBlock()->getParentOp());
  Operation *op = findSelection(kernel.source);
  FailureOr<SelectProblem> problem =
      ProblemReader(kernel.source, target).read(op);
  if (failed(problem))
    return failure();
  SelectKernel select(b, kernel.getTile<GpuSelectionAttr>(), *problem);
  select.emit();
  MLIRContext *context = kernel.source.getContext();
  return GpuGrid{getAffineConstantExpr(select.getWorkgroups(), context),
                 getAffineConstantExpr(select.getNumHeads(), context)};
}

/// True for a selection that keeps bits of which columns cover which rows.
static bool hasCoveringBits(Operation *selection) {
  auto update = dyn_cast<CascadeUpdateOp>(selection);
  return !update || update.getRule() == CascadeRule::Covering;
}

static FailureOr<KernelScratch> getScratch(func::FuncOp kernel) {
  Operation *op = findSelection(kernel);
  auto type = cast<SelectionType>(op->getResult(0).getType());
  int64_t heads = type.getHeads().value_or(1);
  FailureOr<SmallVector<AffineExpr>> sizes =
      getSizeExprs(kernel, op->getOperand(0));
  if (failed(sizes))
    return failure();
  int64_t factor = heads * getScratchFactor(hasCoveringBits(op));
  KernelScratch scratch;
  scratch.tensors.push_back(
      {{(sizes->front() + kScratchRoom) * factor + kSplitWords},
       IntegerType::get(kernel.getContext(), 32)});
  // Heads run beside each other, each with rounds of its own.
  scratch.controlWords = heads * kControlWords;
  // The last workgroup to leave clears the words (SelectRounds::leave).
  scratch.leavesZero = true;
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuSelectKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuSelectKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &choices) -> GpuTileInterface {
      return selectSelectionTile(kernel, gpu, choices.smallGram);
    },
    .emit = emitSelection,
    .verify = verifyTile,
    .scratch = getScratch,
};
