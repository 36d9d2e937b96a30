//===- MatmulLoop.cpp - Products among other code of a kernel -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"
#include "passes/Tile/Gpu/Matmul/LowerTileOps.h"
#include "passes/Tile/Gpu/Matmul/ProductSteps.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

MatmulLoop::MatmulLoop(GpuBuilder &b, GpuProductAttr config)
    : b(b), config(config), tileX(b, config.getStages(), config.getRows(),
                                  config.getDepth(), config.getElement()),
      tileW(b, config.getStages(), config.getColumns(), config.getDepth(),
            config.getElement()) {
  if (config.getInstruction() == Instruction::Wgmma64x128x16)
    wgmma.emplace(b, tileX, tileW, config.getWaves());
  else
    wave.emplace(b, Mma(config.getInstruction(), config.getElement()), tileX,
                 tileW, config.getWaves());
}

Values MatmulLoop::add(TileLoader &x, TileLoader &w, ValueRange sums) {
  // The steps are written on the side, with arguments for what the kernel has,
  // and lowered into it.
  Region region;
  Block &block = region.emplaceBlock();
  Location loc = b.getLoc();
  auto sumType = VectorType::get(config.getShape(), b.getF32Type());
  Value row = block.addArgument(b.getIndexType(), loc);
  Value column = block.addArgument(b.getIndexType(), loc);
  Value bufferX = block.addArgument(tileX.getType(), loc);
  Value bufferW = block.addArgument(tileW.getType(), loc);
  Value before = block.addArgument(sumType, loc);
  ProductSteps steps = {{x.getTensor(), row, bufferX, x.isAsync()},
                        {w.getTensor(), column, bufferW, w.isAsync()},
                        config.getInstruction()};
  Value after;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&block);
    after = writeSteps(b, steps, before);
  }
  TileLowering lowering(b);
  if (wave)
    lowering.setTile(*wave);
  else
    lowering.setTile(*wgmma);
  lowering.setSides({row, bufferX, &x}, {column, bufferW, &w});
  lowering.mapSums(before, Values(sums));
  // What is written here is what can be lowered.
  LogicalResult result =
      lowering.lower(llvm::make_range(block.begin(), block.end()));
  assert(succeeded(result) && "the steps are lowered as they are written");
  (void)result;
  return lowering.getSums(after);
}

void MatmulLoop::finish(TileLoader &x, TileLoader &w) {
  // Copies past the last step may still be in flight to memory that the next
  // product fills.
  if (x.isAsync() || w.isAsync())
    waitForCopies(b, 0);
  b.barrier();
}
