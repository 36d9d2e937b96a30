//===- ProductSteps.cpp - The steps of a product on tiles -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup goes along k in steps of a tile's depth, with tiles of x and W in
// `stages` buffers of workgroup memory. While a step is multiplied, the next
// ones are in flight. With instructions of a wave:
//
//   for step:
//     wait for the copies of this step; barrier
//     start the copies of step + stages - 1
//     load this step's fragments from workgroup memory
//     load step + 2 into registers             what cannot be copied as it is
//     multiply step
//     stage step + 1 from registers
//
// (sm_90: load step + 1, load fragments, multiply, stage.)
//
// One barrier is enough: a stage is overwritten in the step after the one that
// read it at the earliest, and a barrier is between them. What is loaded into
// registers has a whole step to arrive.
//
// With instructions of four warps, which run while the next step is prepared:
//
//   for step:
//     wait for the copies of this step; barrier
//     start the copies of step + stages - 2
//     load step + 1 into registers
//     start multiplying step
//     stage step + 1
//     wait until step - 1 is multiplied
//
// After the barrier of a step no warp reads the stage of step - 2 any more,
// which is the one that is filled again.
//
// Numbers of 8 bits with one scale for a row are multiplied like others, and
// their sums are scaled at the end. Those with scales of blocks of k are added
// up within a block alone. Each block begins from zero, and its scaled sums are
// added to totals of f32:
//
//   for block:
//     load the scales of the block
//     the steps of the block, as above       two of 64 on gfx942
//     totals += scales * sums
//
// For four warps sums have up to 128 columns: those of a part of the columns
// are scaled before the next part begins. Groups of four warps do so in turns,
// so that matrix units have work meanwhile. (That each group multiplies one
// block while it scales another is not for ptxas: it puts waits between all
// products.)
//
//   for block:
//     wait for the copies of this block; barrier
//     start the copies of a block further, into the stages of the block before
//     for each part of the columns:
//       multiply all steps of the block; totals += scales * sums
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/ProductSteps.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;
using Side = ProductSteps::Side;

/// Columns of the sums of a block, at most: they are in registers beside
/// totals.
static constexpr int64_t kBlockColumns = 128;

namespace {
class StepWriter {
public:
  StepWriter(GpuBuilder &b, const ProductSteps &product)
      : b(b), product(product), sides{&product.x, &product.w} {
    ArrayRef<int64_t> shape =
        cast<MemRefType>(product.x.buffer.getType()).getShape();
    stages = shape[0];
    depth = shape[2];
    // Rows of x may lie side by side in its tensor; those of W do not.
    steps = llvm::divideCeil(
        cast<RankedTensorType>(product.w.tensor.getType()).getDimSize(1),
        depth);
  }

  Value writeWaveSteps(Value sums);
  Value writeWgmmaSteps(Value sums);
  Value writeWgmmaBlocks(Value totals);
  Value write(Value totals);

private:
  bool isAnyCopied() const { return product.x.isCopied || product.w.isCopied; }
  Value getStage(Value step) { return b.rem(step, stages); }
  /// k of a step, clamped to the last step: past the end something valid must
  /// still be loaded.
  Value getDepth(Value step) {
    step = b.min(step, b.sub(getCount(), 1));
    if (product.firstStep)
      step = b.add(product.firstStep, step);
    return b.mul(step, depth);
  }
  /// The steps of this workgroup.
  Value getCount() {
    return product.numSteps ? product.numSteps : b.index(steps);
  }
  /// What a stage of a buffer is in registers, with numbers of `element`.
  static VectorType getTileType(Value buffer, Type element) {
    auto type = cast<MemRefType>(buffer.getType());
    return VectorType::get(type.getShape().drop_front(), element);
  }
  static VectorType getStageType(Value buffer) {
    return getTileType(buffer, getElementTypeOrSelf(buffer));
  }

  /// Starts copies of a step, which may be past the end.
  void copy(Value step) {
    for (const Side *side : sides)
      if (side->isCopied)
        TileCopyOp::create(b, side->tensor, side->first, b.mul(step, depth),
                           side->buffer, getStage(step));
    if (isAnyCopied())
      closeCopies(b);
  }
  void wait(int64_t pending) {
    if (isAnyCopied())
      waitForCopies(b, pending);
  }
  /// Loads what goes through registers of a step.
  Values fetch(Value step) {
    Values fetched;
    for (const Side *side : sides)
      if (!side->isCopied)
        fetched.push_back(TileFetchOp::create(
            b, getTileType(side->buffer, getElementTypeOrSelf(side->tensor)),
            side->tensor, side->first, getDepth(step)));
    return fetched;
  }
  /// Writes what was fetched of a step into its stage.
  void stage(Value step, ValueRange fetched) {
    for (const Side *side : sides) {
      if (side->isCopied)
        continue;
      TileStageOp::create(b, fetched.front(), side->tensor, side->first,
                          getDepth(step), side->buffer, getStage(step));
      fetched = fetched.drop_front();
    }
  }

  TileLoadOp load(Value stage) {
    Value x = product.x.buffer, w = product.w.buffer;
    return TileLoadOp::create(b, getStageType(x), getStageType(w), x, stage, w,
                              stage);
  }
  /// Sums of nothing, of some `columns` of the totals.
  Value makeZeros(Value totals, int64_t columns) {
    int64_t rows = cast<VectorType>(totals.getType()).getDimSize(0);
    bool areIntegers = getElementTypeOrSelf(product.x.buffer).isInteger();
    Type number = areIntegers ? Type(b.getI32Type()) : Type(b.getF32Type());
    return b.constant(VectorType::get({rows, columns}, number), 0);
  }
  Value makeZeros(Value totals) {
    return makeZeros(totals, cast<VectorType>(totals.getType()).getDimSize(1));
  }
  /// The scales of the block that `step` is in.
  Value loadScales(Value step, Value totals) {
    auto type = cast<VectorType>(totals.getType());
    Value block =
        product.hasBlocks() ? b.div(step, product.block / depth) : b.index(0);
    return TileScalesOp::create(
        b, VectorType::get(type.getDimSize(0), b.getF32Type()), product.scales,
        product.x.first, block);
  }
  Value scale(Value sums, Value scales, Value totals) {
    return TileScaleOp::create(b, totals.getType(), sums, scales, totals,
                               /*part=*/0);
  }

  Value multiply(TileLoadOp tiles, Value sums) {
    return TileMultiplyOp::create(b, sums.getType(), tiles.getTileX(),
                                  tiles.getTileW(), sums, product.instruction);
  }

  GpuBuilder &b;
  const ProductSteps &product;
  const Side *sides[2];
  int64_t depth, stages, steps;
};
} // namespace

Value StepWriter::writeWaveSteps(Value sums) {
  // Loads of a step further give gfx942 a whole step for them to arrive. For
  // sm_90, LLVM would undo it: it turns a loaded value that a loop carries into
  // a load where the value is used.
  bool isTwoAhead = b.getGpu().kind == GpuKind::Amd;
  for (int64_t step = 0; step + 1 < stages; ++step)
    copy(b.index(step));
  stage(b.index(0), fetch(b.index(0)));
  Values carried = isTwoAhead ? fetch(b.index(1)) : Values();
  carried.push_back(sums);

  auto writeStep = [&](Value step, ValueRange carried) {
    Value sums = carried.back();
    wait(stages - 2);
    b.barrier();
    copy(b.add(step, stages - 1));
    Value next = b.add(step, 1), current = getStage(step);
    if (!isTwoAhead) {
      Values fetched = fetch(next);
      Value newSums = multiply(load(current), sums);
      stage(next, fetched);
      return Values{newSums};
    }
    // All reads of workgroup memory come before what is stored there, so that
    // matrix instructions wait for neither.
    TileLoadOp tiles = load(current);
    Values result = fetch(b.add(step, 2));
    Value newSums = multiply(tiles, sums);
    stage(next, carried.drop_back());
    TileInterleaveOp::create(b, newSums, tiles.getTileX(), tiles.getTileW(),
                             result);
    result.push_back(newSums);
    return result;
  };
  // Two steps per iteration where two sets of loaded registers are live: a loop
  // of single steps would copy one set to the other, and wait for it.
  // Steps of a block stand together as well.
  int64_t together = isTwoAhead ? 2 : 1;
  if (product.hasBlocks())
    together = std::max(together, product.block / depth);
  int64_t rest = steps % together;
  auto writePart = [&](Value step, int64_t count, ValueRange carried) {
    Values values(carried);
    // What a loop carries of blocks are totals.
    Value totals = values.back(), scales;
    bool hasBlocks = product.hasBlocks();
    int64_t stepsOfBlock = hasBlocks ? product.block / depth : count;
    for (int64_t i = 0; i < count; ++i) {
      Value next = b.add(step, i);
      if (hasBlocks && i % stepsOfBlock == 0) {
        scales = loadScales(next, totals);
        values.back() = makeZeros(totals);
      }
      values = writeStep(next, values);
      bool isEnd = (i + 1) % stepsOfBlock == 0 || i + 1 == count;
      if (hasBlocks && isEnd)
        values.back() = totals = scale(values.back(), scales, totals);
    }
    return values;
  };
  carried = b.loop(b.index(0), b.sub(getCount(), rest), together, carried,
                   [&](Value step, ValueRange carried) {
                     return writePart(step, together, carried);
                   });
  if (rest)
    carried = writePart(b.sub(getCount(), rest), rest, carried);
  return carried.back();
}

Value StepWriter::writeWgmmaSteps(Value sums) {
  // It is only asked for fences and waits, which do not depend on its columns.
  Wgmma wgmma(b, getElementTypeOrSelf(product.x.buffer));
  for (int64_t step = 0; step + 2 < stages; ++step)
    copy(b.index(step));
  stage(b.index(0), fetch(b.index(0)));
  Values carried = b.loop(
      b.index(0), b.index(steps), 1, sums, [&](Value step, ValueRange carried) {
        wait(stages - 3);
        // Each thread publishes what it staged in the step before; the barrier
        // then orders it before the products of all warps.
        wgmma.publishStores();
        b.barrier();
        copy(b.add(step, stages - 2));
        Value next = b.add(step, 1);
        Values fetched = fetch(next);
        Value current = getStage(step);
        Value newSums = TileStartOp::create(
            b, sums.getType(), product.x.buffer, current, product.w.buffer,
            current, carried.front(), product.instruction, /*part=*/0);
        stage(next, fetched);
        wgmma.wait(1);
        return Values{newSums};
      });
  return TileFinishOp::create(b, sums.getType(), carried.front());
}

Value StepWriter::writeWgmmaBlocks(Value totals) {
  Wgmma wgmma(b, getElementTypeOrSelf(product.x.buffer));
  auto type = cast<VectorType>(totals.getType());
  int64_t parts = type.getDimSize(1) > kBlockColumns ? 2 : 1;
  Value zeros = makeZeros(totals, type.getDimSize(1) / parts);
  int64_t stepsOfBlock = product.block / depth, ahead = stages - stepsOfBlock;
  for (int64_t step = 0; step < ahead; ++step)
    copy(b.index(step));
  stage(b.index(0), fetch(b.index(0)));
  return b.loop(
      b.index(0), b.index(steps), stepsOfBlock, totals,
      [&](Value step, ValueRange carried) {
        wait(ahead - stepsOfBlock);
        wgmma.publishStores();
        b.barrier();
        for (int64_t i = 0; i < stepsOfBlock; ++i)
          copy(b.add(step, ahead + i));
        // What goes through registers has blocks of one step.
        Value next = b.add(step, 1);
        Values fetched = fetch(next);
        Value scales = loadScales(step, totals), newTotals = carried.front();
        for (int64_t part = 0; part < parts; ++part) {
          Value sums = zeros;
          for (int64_t i = 0; i < stepsOfBlock; ++i) {
            Value current = getStage(b.add(step, i));
            sums = TileStartOp::create(b, zeros.getType(), product.x.buffer,
                                       current, product.w.buffer, current, sums,
                                       product.instruction, part);
          }
          if (part == 0)
            stage(next, fetched);
          sums = TileFinishOp::create(b, sums.getType(), sums);
          newTotals =
              TileScaleOp::create(b, type, sums, scales, newTotals, part);
        }
        return Values{newTotals};
      })[0];
}

Value StepWriter::write(Value totals) {
  bool isWgmma = product.instruction == Instruction::Wgmma64x128x16;
  if (product.hasBlocks())
    return isWgmma ? writeWgmmaBlocks(totals) : writeWaveSteps(totals);
  if (!product.scales)
    return isWgmma ? writeWgmmaSteps(totals) : writeWaveSteps(totals);
  Value scales = loadScales(b.index(0), totals), zeros = makeZeros(totals);
  Value sums = isWgmma ? writeWgmmaSteps(zeros) : writeWaveSteps(zeros);
  return scale(sums, scales, totals);
}

Value gist::writeSteps(GpuBuilder &b, const ProductSteps &product,
                       Value totals) {
  return StepWriter(b, product).write(totals);
}
