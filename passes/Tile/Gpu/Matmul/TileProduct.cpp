//===- TileProduct.cpp - Products by matrix instructions ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both ways of gist.tile_product: a product of tensors becomes one, and one
// becomes the code of a thread.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ColumnHalves.h"
#include "passes/Tile/Gpu/Matmul/LowerTileOps.h"
#include "passes/Tile/Gpu/Matmul/ProductParts.h"
#include "passes/Tile/Gpu/Matmul/ProductSteps.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// From tensors
//===----------------------------------------------------------------------===//

/// Whether the operands of a product go to workgroup memory as they are. This
/// works on a copy of the kernel, because finding out may create ops.
static std::pair<bool, bool> findCopied(Value x, Value w, GpuProductAttr tile,
                                        func::FuncOp kernel,
                                        const GpuInfo &gpu) {
  if (gpu.kind != GpuKind::Nvidia)
    return {false, false};
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(kernel.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(scratch->getBody());
  IRMapping mapping;
  auto source = cast<func::FuncOp>(builder.clone(*kernel, mapping));
  func::FuncOp function = createBufferFunction(builder, source);
  GpuBuilder b(function, gpu, gpu.waveSize);
  ElementEmitter emitter(b, source, function.getArguments());
  auto isCopied = [&](Value operand) {
    return Operand(emitter, mapping.lookup(operand))
        .isCopyable(tile.getElement());
  };
  return {isCopied(x), isCopied(w)};
}

/// Numbers of a row.
static int64_t getDepth(Value operand) {
  return cast<RankedTensorType>(operand.getType()).getDimSize(1);
}

/// What takes the place of `product`; where workgroups share k, its body has
/// arguments for that. The body is not written yet.
static TileProductOp createTileProduct(GpuBuilder &b, Operation *product,
                                       Value x, Value w, Value scales,
                                       Value init, GpuProductAttr tile,
                                       bool sharesSteps) {
  b.setLoc(product->getLoc());
  b.setInsertionPoint(product);
  auto op = TileProductOp::create(b, init.getType(), x, w, scales, init,
                                  tile.getShape(), tile.getWaves(),
                                  isPaired(product));
  Block *body = b.createBlock(&op.getBody());
  for (int i = 0; i < (sharesSteps ? 4 : 2); ++i)
    body->addArgument(b.getIndexType(), b.getLoc());
  return op;
}

/// Writes the body of `op`.
static LogicalResult writeBody(GpuBuilder &b, TileProductOp op,
                               GpuProductAttr tile, int64_t block,
                               const GpuInfo &gpu) {
  Value x = op.getX(), w = op.getW();
  auto [isCopiedX, isCopiedW] =
      findCopied(x, w, tile, op->getParentOfType<func::FuncOp>(), gpu);
  // Past the end of k copies are zeros.
  if (tile.getInstruction() == Instruction::Wgmma64x128x16 &&
      block > tile.getDepth() && block < getDepth(w) &&
      !(isCopiedX && isCopiedW))
    return op.emitOpError("has blocks of several steps and expects operands "
                          "that lie in memory as they are multiplied");
  auto makeBuffer = [&](int64_t rows) {
    return SharedTile(b, tile.getStages(), rows, tile.getDepth(),
                      tile.getElement())
        .getBuffer();
  };
  Value bufferX = makeBuffer(tile.getRows());
  Value bufferW = makeBuffer(tile.getColumns());
  ProductSteps steps = {{x, op.getRow(), bufferX, isCopiedX},
                        {w, op.getColumn(), bufferW, isCopiedW},
                        tile.getInstruction()};
  if (op.sharesSteps()) {
    steps.firstStep = op.getBody().getArgument(2);
    steps.numSteps = op.getBody().getArgument(3);
  }
  steps.scales = op.getScales();
  steps.block = block;
  Value totals =
      b.constant(VectorType::get(tile.getShape(), b.getF32Type()), 0);
  TileYieldOp::create(b, writeSteps(b, steps, totals));
  return success();
}

FailureOr<TileProductOp> gist::tileProduct(linalg::LinalgOp product,
                                           GpuProductAttr tile,
                                           const GpuInfo &gpu) {
  auto kernel = product->getParentOfType<func::FuncOp>();
  Value x = product.getDpsInputs()[0], w = product.getDpsInputs()[1];
  auto start = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  FailureOr<int64_t> parts = getPartsOfKernel(
      kernel,
      getProductCut(cast<RankedTensorType>(x.getType()),
                    cast<RankedTensorType>(w.getType()), tile.getShape(),
                    tile.getDepth(), tile.getStages()),
      gpu);
  if (failed(parts))
    return failure();

  // Ops on tiles do not depend on the number of threads; one wave is any
  // number.
  GpuBuilder b(kernel, gpu, gpu.waveSize);
  TileProductOp op =
      createTileProduct(b, product, x, w, /*scales=*/{}, start.getDpsInits()[0],
                        tile, *parts > 1);
  if (failed(writeBody(b, op, tile, /*block=*/0, gpu)))
    return failure();
  product->getResult(0).replaceAllUsesWith(op.getResult());
  product->erase();
  if (start->use_empty())
    start->erase();
  return op;
}

FailureOr<TileProductOp> gist::tileProduct(ScaledMatmulOp product,
                                           GpuProductAttr tile,
                                           const GpuInfo &gpu) {
  if (failed(verifyScaledTile(product, tile, gpu)))
    return failure();
  GpuBuilder b(product->getParentOfType<func::FuncOp>(), gpu, gpu.waveSize);
  b.setLoc(product.getLoc());
  b.setInsertionPoint(product);
  ReifiedRankedShapedTypeDims shapes;
  (void)product.reifyResultShapes(b, shapes);
  Value init = tensor::EmptyOp::create(b, shapes[0], b.getF32Type());
  TileProductOp op =
      createTileProduct(b, product, product.getValues(), product.getWeight(),
                        product.getScales(), init, tile, /*sharesSteps=*/false);
  if (failed(writeBody(b, op, tile, static_cast<int64_t>(product.getBlock()),
                       gpu)))
    return failure();
  product.getResult().replaceAllUsesWith(op.getResult());
  product->erase();
  return op;
}

//===----------------------------------------------------------------------===//
// To the code of a thread
//===----------------------------------------------------------------------===//

namespace {
class ProductKernel {
public:
  ProductKernel(GpuKernel &kernel, TileProductOp product)
      : kernel(kernel), b(kernel.b), emitter(kernel.emitter), product(product),
        lowering(b) {}

  LogicalResult emit();
  /// Workgroups that share the k of a tile.
  int64_t getParts() const { return parts; }

private:
  /// The instruction, where all products of the body have the same.
  FailureOr<Instruction> findInstruction();
  /// Columns of the narrowest sums of products that are started together.
  int64_t findColumns();
  /// The buffer that an operand goes to, by the first op that fills it; null,
  /// with an error, where its stages are not tiles of the operand.
  Value findBuffer(Value first, int64_t rows);
  /// Whether the GPU has the instruction, and it fills tiles of that depth.
  LogicalResult verify(Instruction instruction, int64_t depth);
  /// Allocates the buffers, where a kernel begins.
  void allocate();
  SharedTile getShared(Value buffer) {
    return SharedTile(lowering.getNumber(buffer));
  }

  GpuKernel &kernel;
  GpuBuilder &b;
  ElementEmitter &emitter;
  TileProductOp product;
  TileLowering lowering;
  int64_t parts = 1;
};
} // namespace

FailureOr<Instruction> ProductKernel::findInstruction() {
  std::optional<Instruction> found;
  WalkResult result = product.getBody().walk([&](Operation *op) {
    std::optional<Instruction> own;
    if (auto multiply = dyn_cast<TileMultiplyOp>(op))
      own = multiply.getInstruction();
    if (auto start = dyn_cast<TileStartOp>(op))
      own = start.getInstruction();
    bool isOther = own && found && own != found;
    found = own ? own : found;
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted() || !found)
    return product.emitOpError("expects products by one instruction");
  return *found;
}

int64_t ProductKernel::findColumns() {
  int64_t columns = product.getWorkgroup()[1];
  product.getBody().walk([&](TileStartOp op) {
    columns = std::min(columns, op.getSums().getType().getDimSize(1));
  });
  return std::min(columns / product.getWaves()[1], Wgmma::kMaxColumns);
}

Value ProductKernel::findBuffer(Value first, int64_t rows) {
  Value buffer;
  product.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto stage = dyn_cast<TileStageOp>(op);
    auto copy = dyn_cast<TileCopyOp>(op);
    if (stage && stage.getRow() == first)
      buffer = stage.getBuffer();
    if (copy && copy.getRow() == first)
      buffer = copy.getBuffer();
    return buffer ? WalkResult::interrupt() : WalkResult::advance();
  });
  auto made = buffer ? buffer.getDefiningOp<memref::AllocaOp>() : nullptr;
  if (made && made->getBlock() == &product.getBody().front() &&
      made.getType().getDimSize(1) == rows)
    return buffer;
  product.emitOpError(
      "expects a buffer for each operand, allocated in the body, "
      "whose stages have the rows of the workgroup's tile");
  return {};
}

LogicalResult ProductKernel::verify(Instruction instruction, int64_t depth) {
  ArrayRef<int64_t> workgroup = product.getWorkgroup();
  ArrayRef<int64_t> waves = product.getWaves();
  if (failed(verifyInstruction(product, instruction, b.getGpu())))
    return failure();
  if (waves[0] * waves[1] * b.getGpu().waveSize != b.getThreads())
    return product.emitOpError("expects the waves of the kernel's tile, ")
           << b.getThreads() / b.getGpu().waveSize << ", got [" << waves << "]";
  Type element = getElementTypeOrSelf(product.getX());
  bool fits =
      instruction == Instruction::Wgmma64x128x16
          ? WgmmaTile::fits(workgroup, waves)
          : WaveTile::fits(Mma(instruction, element), workgroup, depth, waves);
  if (!fits)
    return product.emitOpError("has a tile of [")
           << workgroup << "] that [" << waves << "] waves do not fill with "
           << stringifyInstruction(instruction) << " of depth " << depth;
  return success();
}

void ProductKernel::allocate() {
  for (auto op : product.getBody().getOps<memref::AllocaOp>()) {
    MemRefType type = op.getType();
    if (type.getRank() != 3 || !type.hasStaticShape())
      continue;
    SharedTile shared(b, type.getDimSize(0), type.getDimSize(1),
                      type.getDimSize(2), type.getElementType());
    lowering.map(op, shared.getBuffer());
  }
}

LogicalResult ProductKernel::emit() {
  if (product.getPaired() && !getColumnHalves(product.getResult()))
    return product.emitOpError(
        "is paired, so that slices of both halves of its "
        "columns must be all that is read of it");
  FailureOr<Instruction> instruction = findInstruction();
  if (failed(instruction))
    return failure();
  ArrayRef<int64_t> workgroup = product.getWorkgroup();
  Value bufferX = findBuffer(product.getRow(), workgroup[0]);
  Value bufferW = findBuffer(product.getColumn(), workgroup[1]);
  if (!bufferX || !bufferW ||
      failed(verify(*instruction,
                    cast<MemRefType>(bufferX.getType()).getDimSize(2))))
    return failure();

  // The order of what follows is that of the code: buffers must come first,
  // since a kernel begins with its workgroup memory.
  allocate();
  SharedTile tileX = getShared(bufferX), tileW = getShared(bufferW);
  std::optional<WaveTile> wave;
  std::optional<WgmmaTile> wgmma;
  bool isWgmma = *instruction == Instruction::Wgmma64x128x16;
  if (!isWgmma)
    wave.emplace(b, Mma(*instruction, tileX.getElement()), tileX, tileW,
                 product.getWaves());
  MatmulGrid grid(product, workgroup);
  Value row = grid.getRow(b), column = grid.getColumn(b);
  Operand x(emitter, product.getX()), w(emitter, product.getW());
  for (const Operand *operand : {&x, &w})
    if (tileX.getColumns() % operand->getPiece() != 0)
      return product.emitOpError("expects a depth of a multiple of ")
             << operand->getPiece() << ", got " << tileX.getColumns();
  // Beside rows in 16 bits LLVM would convert scales as soon as they are
  // loaded, and a step would wait for its own loads.
  if (b.getGpu().kind == GpuKind::Amd &&
      getElementTypeOrSelf(product.getX()).getIntOrFloatBitWidth() == 16)
    w.keepScales();
  int64_t columns = product.getW().getType().getDimSize(0);
  // Neighbouring rows of the tile of W are the two rows of a pair, so that both
  // sums of a pair end up in one lane.
  auto getPairedPlace = [&](Value place) {
    return getPairedRow(b, b.min(b.add(column, place), b.index(columns - 1)),
                        columns);
  };
  TileLoader loadX(b, x, tileX, row);
  TileLoader loadW = product.getPaired()
                         ? TileLoader(b, w, tileW, getPairedPlace, nullptr)
                         : TileLoader(b, w, tileW, column);
  MatmulResult result(emitter, product, workgroup[1]);
  if (isWgmma)
    wgmma.emplace(b, tileX, tileW, product.getWaves(), findColumns());

  if (wave)
    lowering.setTile(*wave);
  else
    lowering.setTile(*wgmma);
  lowering.setSides({product.getRow(), bufferX, &loadX},
                    {product.getColumn(), bufferW, &loadW});
  if (Value scales = product.getScales())
    lowering.setScales([=, this](Value place, Value block) {
      Value last = b.sub(emitter.size(scales, 0), 1);
      return emitter.element(scales, {b.min(b.add(row, place), last), block});
    });
  lowering.map(product.getRow(), row);
  lowering.map(product.getColumn(), column);
  auto yield = cast<TileYieldOp>(product.getBody().front().getTerminator());
  auto store = [&](const Values &sums) {
    if (wave)
      wave->store(
          result, sums, [&](Value place) { return b.add(row, place); }, column);
    else
      wgmma->store(result, sums, row, column);
  };
  auto lower = [&](function_ref<void(const Values &)> finish) -> LogicalResult {
    if (failed(lowering.takeConstants(product.getBody())) ||
        failed(lowering.lower(yield->getBlock()->without_terminator())))
      return failure();
    if (!lowering.hasSums(yield.getSums()))
      return yield.emitOpError("expects sums of products, or zeros");
    finish(lowering.getSums(yield.getSums()));
    return success();
  };
  if (!product.sharesSteps())
    return lower(store);

  auto bufferType = cast<MemRefType>(bufferX.getType());
  ProductCut cut = getProductCut(
      product.getX().getType(), product.getW().getType(), workgroup,
      bufferType.getDimSize(2), bufferType.getDimSize(0));
  FailureOr<int64_t> count = getPartsOfKernel(kernel.source, cut, b.getGpu());
  if (failed(count))
    return failure();
  if (*count == 1)
    return product.emitOpError("shares its steps and has no memory for that");
  parts = *count;
  int64_t perRow = llvm::divideCeil(columns, workgroup[1]);
  Value numRows = emitter.size(product.getResult(), 0);
  Value tile = b.add(b.mul(b.div(row, workgroup[0]), perRow),
                     b.div(column, workgroup[1]));
  ProductParts shared(kernel, cut, parts, tile,
                      b.mul(b.ceilDiv(numRows, workgroup[0]), perRow));
  lowering.map(product.getBody().getArgument(2), shared.getFirstStep());
  lowering.map(product.getBody().getArgument(3), shared.getNumSteps());
  LogicalResult lowered = success();
  b.ifThen(shared.isThere(), [&] {
    lowered = lower([&](const Values &sums) {
      shared.finish(sums, tileX.getBuffer(), store);
    });
  });
  return lowered;
}

FailureOr<GpuGrid> gist::emitTileProduct(GpuKernel &kernel,
                                         TileProductOp product) {
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(rows))
    return product.emitOpError(
        "has rows whose number does not follow from the kernel's arguments");
  ProductKernel code(kernel, product);
  if (failed(code.emit()))
    return failure();
  MatmulGrid grid(product, product.getWorkgroup());
  MLIRContext *context = kernel.source.getContext();
  GpuGrid sizes = {rows->ceilDiv(product.getWorkgroup()[0]) * grid.getPerRow(),
                   getAffineConstantExpr(grid.getAlongY(), context)};
  if (code.getParts() > 1)
    sizes.push_back(getAffineConstantExpr(code.getParts(), context));
  return sizes;
}
