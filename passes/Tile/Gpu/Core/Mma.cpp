//===- Mma.cpp - Matrix instructions of GPUs ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Mma.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <array>

using namespace mlir;
using namespace gist;

static constexpr int64_t kChunkBytes = 16;
/// Chunks in one line of the 32 banks of 4 bytes.
static constexpr int64_t kChunksOfBanks = 8;

static Value constant(ImplicitLocOpBuilder &b, int64_t number) {
  return arith::ConstantIndexOp::create(b, number);
}
static Value add(ImplicitLocOpBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}
static Value multiplied(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return b.createOrFold<arith::MulIOp>(x, constant(b, y));
}
static Value divided(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return b.createOrFold<arith::DivUIOp>(x, constant(b, y));
}
static Value remainder(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return b.createOrFold<arith::RemUIOp>(x, constant(b, y));
}
static Value exclusiveOr(ImplicitLocOpBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(x, y);
}

/// `size` numbers of a flat vector from `offset` on.
static Value slice(ImplicitLocOpBuilder &b, Value vector, int64_t offset,
                   int64_t size) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getNumElements() == size)
    return vector;
  return vector::ExtractStridedSliceOp::create(
      b, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{size},
      ArrayRef<int64_t>{1});
}

static Value insert(ImplicitLocOpBuilder &b, Value part, Value vector,
                    int64_t offset) {
  return vector::InsertStridedSliceOp::create(
      b, part, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{1});
}

static Value reshaped(ImplicitLocOpBuilder &b, Value vector,
                      ArrayRef<int64_t> shape) {
  auto type = cast<VectorType>(vector.getType());
  return vector::ShapeCastOp::create(
      b, VectorType::get(shape, type.getElementType()), vector);
}

//===----------------------------------------------------------------------===//
// SharedTile
//===----------------------------------------------------------------------===//

SharedTile::SharedTile(ImplicitLocOpBuilder &b, int64_t stages, int64_t rows,
                       int64_t columns, Type element) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({stages, rows, columns}, element,
                              MemRefLayoutAttrInterface(), space);
  // Aligned to a whole swizzle of eight rows, as wgmma needs it.
  buffer = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(1024));
}

MemRefType SharedTile::getType() const {
  return cast<MemRefType>(buffer.getType());
}

int64_t SharedTile::getChunk() const {
  return kChunkBytes * 8 / getElement().getIntOrFloatBitWidth();
}

Value SharedTile::getPlace(ImplicitLocOpBuilder &b, Value row,
                           Value column) const {
  // Chunks are exchanged inside of the largest power of two that divides a
  // row; shorter ones than a line of banks need another order only every few
  // rows.
  int64_t chunks = getColumns() / getChunk();
  int64_t group = std::min(kChunksOfBanks, chunks & -chunks);
  Value order =
      divided(b, remainder(b, row, kChunksOfBanks), kChunksOfBanks / group);
  return exclusiveOr(b, column, multiplied(b, order, getChunk()));
}

Value SharedTile::load(ImplicitLocOpBuilder &b, VectorType type, Value stage,
                       Value row, Value column) const {
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  return vector::LoadOp::create(
      b, type, buffer, ValueRange{stage, row, getPlace(b, row, column)},
      /*nontemporal=*/false, llvm::Align(bytes));
}

void SharedTile::store(ImplicitLocOpBuilder &b, Value vector, Value stage,
                       Value row, Value column) const {
  auto type = cast<VectorType>(vector.getType());
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  vector::StoreOp::create(b, vector, buffer,
                          ValueRange{stage, row, getPlace(b, row, column)},
                          /*nontemporal=*/false, llvm::Align(bytes));
}

//===----------------------------------------------------------------------===//
// Mma
//===----------------------------------------------------------------------===//

Mma::Mma(Instruction instruction, Type element)
    : instruction(instruction), element(element),
      shape(*getMatrixShape(instruction, element)) {
  assert((instruction == Instruction::Mfma32x32x8 ||
          instruction == Instruction::Mfma16x16x16 ||
          instruction == Instruction::Mfma32x32x16 || isNvidia()) &&
         "not an instruction of one wave");
}

VectorType Mma::getFragmentType() const {
  return VectorType::get(kChunkBytes * 8 / element.getIntOrFloatBitWidth(),
                         element);
}

VectorType Mma::getAccumulatorType() const {
  MLIRContext *context = element.getContext();
  Type number = element.isInteger() ? Type(IntegerType::get(context, 32))
                                    : Type(Float32Type::get(context));
  return VectorType::get(rows() * columns() / waveSize(), number);
}

Value Mma::makeAccumulator(ImplicitLocOpBuilder &b) const {
  return arith::ConstantOp::create(b, b.getZeroAttr(getAccumulatorType()));
}

/// The chunk of row `row` + `laneRow` at column `column` + `laneColumn`. The
/// parts of the lane are below the others' multiples, so that whatever depends
/// on the lane is computed once.
static SmallVector<Value> getLanePlace(ImplicitLocOpBuilder &b,
                                       const SharedTile &tile, Value stage,
                                       Value row, Value laneRow, Value column,
                                       Value laneColumn) {
  // `row` is a multiple of 8, so that it does not change the order of chunks,
  // and `column` has no bits of `laneColumn`, so that an exclusive or adds it.
  Value place = tile.getPlace(b, laneRow, laneColumn);
  return {stage, add(b, row, laneRow), exclusiveOr(b, place, column)};
}

static Value loadChunk(ImplicitLocOpBuilder &b, VectorType type,
                       const SharedTile &tile, ArrayRef<Value> place) {
  return vector::LoadOp::create(b, type, tile.getBuffer(), place,
                                /*nontemporal=*/false,
                                llvm::Align(kChunkBytes));
}

static Value loadMatrices(ImplicitLocOpBuilder &b, VectorType type,
                          const SharedTile &tile, ArrayRef<Value> place,
                          bool transpose) {
  // Lane 8 i + r gives the address of row r of matrix i, whatever lane receives
  // it.
  Value matrices = nvgpu::LdMatrixOp::create(
      b, VectorType::get({4, 2}, type.getElementType()), tile.getBuffer(),
      place, transpose, 4);
  return reshaped(b, matrices, type.getShape());
}

Value Mma::loadA(ImplicitLocOpBuilder &b, const SharedTile &tile, Value lane,
                 Value stage, Value row, Value k) const {
  int64_t chunk = tile.getChunk();
  SmallVector<Value> place =
      getLanePlace(b, tile, stage, row, remainder(b, lane, rows()), k,
                   multiplied(b, divided(b, lane, rows()), chunk));
  // ldmatrix takes the four 8x8 matrices down the rows first, like the lanes
  // of a wave of gfx942.
  return isNvidia() ? loadMatrices(b, getFragmentType(), tile, place,
                                   /*transpose=*/false)
                    : loadChunk(b, getFragmentType(), tile, place);
}

Value Mma::loadB(ImplicitLocOpBuilder &b, const SharedTile &tile, Value lane,
                 Value stage, Value column, Value k) const {
  if (!isNvidia())
    return loadA(b, tile, lane, stage, column, k);
  // Matrices along k first: each half of the fragment is one instruction's B.
  Value laneRow =
      add(b, remainder(b, lane, 8), multiplied(b, divided(b, lane, 16), 8));
  Value laneColumn =
      multiplied(b, remainder(b, divided(b, lane, 8), 2), tile.getChunk());
  return loadMatrices(
      b, getFragmentType(), tile,
      getLanePlace(b, tile, stage, column, laneRow, k, laneColumn),
      /*transpose=*/false);
}

SharedTile Mma::makeTransposedTile(ImplicitLocOpBuilder &b, int64_t stages,
                                   int64_t depth, int64_t columns) const {
  return storesTransposed() ? SharedTile(b, stages, columns, depth, element)
                            : SharedTile(b, stages, depth, columns, element);
}

void Mma::storeTransposed(ImplicitLocOpBuilder &b, const SharedTile &tile,
                          ArrayRef<Value> chunks, Value stage, Value k,
                          Value column) const {
  assert(chunks.size() == 4 && "expects four neighbouring k");
  if (!storesTransposed()) {
    for (auto [i, chunk] : llvm::enumerate(chunks))
      tile.store(b, chunk, stage, add(b, k, constant(b, i)), column);
    return;
  }
  // A lane's accumulator has groups of four columns, one from each depth / 2:
  // its two groups come together as the chunk that a fragment is.
  assert(getFragmentType().getNumElements() == 8 && "expects 16-bit elements");
  int64_t groups = depth() / 8; // of lanes
  Value half = remainder(b, divided(b, k, 4 * groups), 2);
  Value group = remainder(b, divided(b, k, 4), groups);
  Value fragment = multiplied(b, divided(b, k, depth()), depth());
  Value place =
      add(b, add(b, fragment, multiplied(b, group, 8)), multiplied(b, half, 4));
  auto type = VectorType::get(4, element);
  int64_t columns = cast<VectorType>(chunks[0].getType()).getNumElements();
  for (int64_t i = 0; i < columns; ++i) {
    SmallVector<Value> numbers;
    for (Value chunk : chunks)
      numbers.push_back(
          vector::ExtractOp::create(b, chunk, ArrayRef<int64_t>{i}));
    tile.store(b, vector::FromElementsOp::create(b, type, numbers), stage,
               add(b, column, constant(b, i)), place);
  }
}

Value Mma::loadTransposedB(ImplicitLocOpBuilder &b, const SharedTile &tile,
                           Value lane, Value stage, Value column,
                           Value k) const {
  if (storesTransposed())
    return loadB(b, tile, lane, stage, column, k);
  return loadMatrices(
      b, getFragmentType(), tile,
      getLanePlace(b, tile, stage, k, remainder(b, lane, 16), column,
                   multiplied(b, divided(b, lane, 16), tile.getChunk())),
      /*transpose=*/true);
}

SmallVector<Value> Mma::getFragments(ImplicitLocOpBuilder &b,
                                     ArrayRef<Value> accumulators) const {
  VectorType type = getFragmentType();
  int64_t whole = type.getNumElements(), filled = 0;
  SmallVector<Value> fragments;
  for (Value accumulator : accumulators) {
    int64_t count = getAccumulatorType().getNumElements();
    auto rounded = VectorType::get(count, element);
    Value numbers = accumulator;
    if (accumulator.getType() != rounded)
      numbers = arith::TruncFOp::create(b, rounded, accumulator);
    int64_t part = std::min(count, whole);
    for (int64_t i = 0; i < count; i += part) {
      if (filled == 0)
        fragments.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
      fragments.back() = part == whole ? slice(b, numbers, i, part)
                                       : insert(b, slice(b, numbers, i, part),
                                                fragments.back(), filled);
      filled = (filled + part) % whole;
    }
  }
  assert(filled == 0 && "expects whole fragments");
  return fragments;
}

/// One 16x8x16 instruction on bf16, for which nvgpu.mma.sync has no lowering.
static Value multiplyBf16(ImplicitLocOpBuilder &b, Value matrixA, Value matrixB,
                          Value acc) {
  // Pairs of numbers in words, as registers hold them.
  auto getWords = [&](Value vector) {
    int64_t count = cast<VectorType>(vector.getType()).getNumElements() / 2;
    Value words = vector::BitCastOp::create(
        b, VectorType::get(count, b.getI32Type()), vector);
    return llvm::map_to_vector<4>(llvm::seq(count), [&](int64_t i) -> Value {
      return vector::ExtractOp::create(b, words, i);
    });
  };
  SmallVector<Value> sums;
  for (int64_t i = 0; i < 4; ++i)
    sums.push_back(vector::ExtractOp::create(b, acc, i));
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  auto bf16 = NVVM::MMATypes::bf16;
  Value product = NVVM::MmaOp::create(
      b, type, getWords(matrixA), getWords(matrixB), sums,
      ArrayRef<int64_t>{16, 8, 16}, std::nullopt, std::nullopt,
      std::array{bf16, bf16},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(b, product, static_cast<int64_t>(i));
  return vector::FromElementsOp::create(b, cast<VectorType>(acc.getType()),
                                        sums);
}

Value Mma::multiply(ImplicitLocOpBuilder &b, Value a, Value fragmentB,
                    Value acc) const {
  int64_t half = getFragmentType().getNumElements() / 2;
  if (!isNvidia()) {
    int64_t k = depth() / 2;
    for (int64_t i : {int64_t(0), half})
      // B is the first operand: this is the exchange that the header speaks of.
      acc = amdgpu::MFMAOp::create(b, rows(), columns(), k, /*blocks=*/1,
                                   slice(b, fragmentB, i, half),
                                   slice(b, a, i, half), acc);
    return acc;
  }
  // A is whole in both instructions; a half of the fragment of B is eight
  // columns, and so is a half of the sums.
  if (element.isBF16()) {
    for (int64_t i : {int64_t(0), half})
      acc = insert(b,
                   multiplyBf16(b, a, slice(b, fragmentB, i, half),
                                slice(b, acc, i, half)),
                   acc, i);
    return acc;
  }
  Value matrixA = reshaped(b, a, {4, 2});
  for (int64_t i : {int64_t(0), half}) {
    Value part = nvgpu::MmaSyncOp::create(
        b, matrixA, reshaped(b, slice(b, fragmentB, i, half), {2, 2}),
        reshaped(b, slice(b, acc, i, half), {2, 2}),
        ArrayRef<int64_t>{16, 8, 16});
    acc = insert(b, reshaped(b, part, {half}), acc, i);
  }
  return acc;
}

Value Mma::getRow(ImplicitLocOpBuilder &b, Value lane, int64_t i) const {
  if (isNvidia())
    return add(b, divided(b, lane, 4), constant(b, i / 2 % 2 * 8));
  return remainder(b, lane, rows());
}

Value Mma::getColumn(ImplicitLocOpBuilder &b, Value lane, int64_t i) const {
  if (isNvidia())
    return add(b, multiplied(b, remainder(b, lane, 4), 2),
               constant(b, i / 4 * 8 + i % 2));
  int64_t groups = waveSize() / rows();
  return add(b, multiplied(b, divided(b, lane, rows()), 4),
             constant(b, i / 4 * 4 * groups + i % 4));
}

SmallVector<int64_t> Mma::getRowShuffles() const {
  if (isNvidia())
    return {1, 2};
  SmallVector<int64_t> shuffles;
  for (int64_t bit = rows(); bit < waveSize(); bit *= 2)
    shuffles.push_back(bit);
  return shuffles;
}
