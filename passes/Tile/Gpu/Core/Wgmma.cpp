//===- Wgmma.cpp - Matrix instructions of four warps ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace gist;
using Values = GpuBuilder::Values;

/// Descriptors count bytes in these.
static constexpr int64_t kUnit = 16;
static constexpr int64_t kRowBytes = 128;

Wgmma::Wgmma(GpuBuilder &b, Type element, int64_t columns)
    : b(b), element(element), sumColumns(columns),
      number(element.isInteger() ? Type(b.getI32Type())
                                 : Type(b.getF32Type())) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static LLVM::LLVMStructType getSumType(Type number, int64_t count) {
  return LLVM::LLVMStructType::getLiteral(number.getContext(),
                                          SmallVector<Type>(count, number));
}

Value Wgmma::makeZero(Type of) {
  Value zero = b.constant(of ? of : number, 0);
  return makeSum(SmallVector<Value>(getNumbers(), zero));
}

Value Wgmma::makeSum(ValueRange numbers) {
  Value sum =
      LLVM::UndefOp::create(b, getSumType(numbers[0].getType(), getNumbers()));
  for (auto [i, number] : llvm::enumerate(numbers))
    sum = LLVM::InsertValueOp::create(b, sum, number, i);
  return sum;
}

Value Wgmma::getNumber(Value sum, int64_t i) {
  return LLVM::ExtractValueOp::create(b, sum, i);
}

Value Wgmma::getDescriptor(const SharedTile &tile, Value stage, Value row,
                           int64_t next) {
  assert(tile.getColumns() * element.getIntOrFloatBitWidth() == kRowBytes * 8 &&
         "expects rows of 128 bytes");
  // Fields of a descriptor: the address in bits 0 to 13, the distance of
  // columns from bit 16 on, that of groups of eight rows from bit 32 on, and
  // the swizzle in bits 62 and 63. A shift by 62 says 128 bytes.
  constexpr int64_t kSwizzle128 = int64_t(1) << 62;
  constexpr int64_t kGroupOfRows = int64_t(8 * kRowBytes / kUnit) << 32;
  // The distance of the columns is not read where they are along k.
  int64_t distance = next ? next * tile.getRows() * kRowBytes / kUnit : 1;
  Value begin =
      memref::ExtractAlignedPointerAsIndexOp::create(b, tile.getBuffer());
  Value offset = b.mul(b.add(b.mul(stage, tile.getRows()), row), kRowBytes);
  // The address has 14 bits of units of 16 bytes, all of workgroup memory. Bits
  // above are those of other fields.
  Value address = b.createOrFold<arith::AndIOp>(
      b.div(b.add(begin, offset), kUnit), b.index(0x3fff));
  return b.createOrFold<arith::OrIOp>(
      arith::IndexCastUIOp::create(b, b.getI64Type(), address),
      arith::ConstantIntOp::create(
          b, b.getI64Type(), kSwizzle128 | kGroupOfRows | distance << 16));
}

Value Wgmma::advance(Value descriptor, int64_t rows, int64_t k) {
  // A k inside of a row needs no exclusive or: the matrix unit applies the
  // swizzle to the address that it has computed. `rows` must be a multiple of
  // 8, or the swizzle would begin elsewhere.
  int64_t bytes = k * element.getIntOrFloatBitWidth() / 8;
  int64_t units = (rows * kRowBytes + bytes) / kUnit;
  return b.createOrFold<arith::AddIOp>(
      descriptor, arith::ConstantIntOp::create(b, b.getI64Type(), units));
}

Values Wgmma::getLeft(ValueRange acc) {
  Values pairs;
  StringRef type = element.isBF16() ? "bf16x2" : "f16x2";
  // Both at once; the second operand goes to the lower half.
  for (size_t i = 0; i < acc.size(); i += 2)
    pairs.push_back(assemble(("cvt.rn." + type + ".f32 $0, $1, $2;").str(),
                             "=r,f,f", b.getI32Type(),
                             {acc[i + 1], acc[i]})[0]);
  return pairs;
}

Value Wgmma::getRow(int64_t half) {
  Value warp = b.rem(b.wave(), kWarps);
  return b.add(b.add(b.mul(warp, 16), b.div(b.lane(), 4)), half * 8);
}

Value Wgmma::getColumn() { return b.mul(b.rem(b.lane(), 4), 2); }

//===----------------------------------------------------------------------===//
// Instructions, with a sum
//===----------------------------------------------------------------------===//

void Wgmma::publishStores() {
  NVVM::FenceProxyOp::create(
      b,
      NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

void Wgmma::fence() { NVVM::WgmmaFenceAlignedOp::create(b); }

Value Wgmma::multiply(Value rows, Value columns, Value sum) {
  MLIRContext *context = b.getContext();
  using Types = NVVM::WGMMATypes;
  Types type = element.isInteger()              ? Types::s8
               : isa<Float8E4M3FNType>(element) ? Types::e4m3
               : element.isBF16()               ? Types::bf16
                                                : Types::f16;
  auto scale = sum ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero;
  if (!sum)
    sum = LLVM::UndefOp::create(b, getSumType(number, getNumbers()));
  return NVVM::WgmmaMmaAsyncOp::create(
      b, sum.getType(), sum, rows, columns,
      NVVM::MMAShapeAttr::get(context, kRows, sumColumns, getDepth()), type,
      type, element.isInteger() ? Types::s32 : Types::f32, scale,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row,
      NVVM::MMALayout::col, NVVM::MMAIntOverflowAttr());
}

void Wgmma::commit() { NVVM::WgmmaGroupSyncAlignedOp::create(b); }

void Wgmma::wait(int64_t pending) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, pending);
}

Value Wgmma::finish(Value sum) {
  Values numbers;
  for (int64_t i = 0, end = getNumbers(); i < end; ++i)
    numbers.push_back(getNumber(sum, i));
  return makeSum(wait(numbers, 0));
}

//===----------------------------------------------------------------------===//
// Instructions, with numbers
//===----------------------------------------------------------------------===//

Values Wgmma::assemble(StringRef text, StringRef constraints, TypeRange results,
                       ValueRange operands) {
  Type type = results.size() == 1
                  ? results.front()
                  : LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                     llvm::to_vector(results));
  // A conversion may go wherever its result is needed.
  bool hasSideEffects = !text.starts_with("cvt");
  Value result = LLVM::InlineAsmOp::create(
                     b, type, operands, text, constraints, hasSideEffects,
                     /*is_align_stack=*/false, LLVM::TailCallKind::None,
                     LLVM::AsmDialectAttr(), ArrayAttr())
                     .getRes();
  if (results.size() == 1)
    return {result};
  Values parts;
  for (int64_t i = 0, end = results.size(); i < end; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(b, result, i));
  return parts;
}

static std::string list(StringRef prefix, int64_t begin, int64_t end) {
  std::string text;
  for (int64_t i = begin; i < end; ++i)
    text += (i == begin ? "" : ",") + prefix.str() + std::to_string(i);
  return text;
}

static std::string repeat(StringRef text, int64_t count) {
  std::string all;
  for (int64_t i = 0; i < count; ++i)
    all += (i == 0 ? "" : ",") + text.str();
  return all;
}

Values Wgmma::multiply(ValueRange acc, int64_t numColumns, ValueRange rows,
                       Value columns, bool isTransposed) {
  int64_t numbers = numColumns / 2, tied = acc.size(), left = rows.size();
  bool isInRegisters = left == 4;
  StringRef type = element.isBF16() ? "bf16" : "f16";
  std::string shape = "m64n" + std::to_string(numColumns) + "k16.f32." +
                      type.str() + "." + type.str();
  // Operands of the text: results, what they start as, rows, columns.
  int64_t first = numbers + tied;
  std::string leftText = list("$", first, first + left);
  if (isInRegisters)
    leftText = "{" + leftText + "}";
  // The predicate says whether the result is added to what is there: without
  // `acc` the registers need not be zeroed before.
  std::string text =
      "{ .reg .pred p; setp.ne.b32 p, " + std::string(tied ? "1" : "0") +
      ", 0; wgmma.mma_async.sync.aligned." + shape + " {" +
      list("$", 0, numbers) + "}, " + leftText + ", $" +
      std::to_string(first + left) + ", p, 1, 1" +
      (isInRegisters ? "" : ", 0") + (isTransposed ? ", 1; }" : ", 0; }");
  std::string constraints = repeat("=f", numbers) + ",";
  if (tied)
    // The sums are updated in place, so results and inputs share registers.
    constraints += list("", 0, tied) + ",";
  constraints += repeat(isInRegisters ? "r" : "l", left) + ",l";
  Values operands(acc);
  llvm::append_range(operands, rows);
  operands.push_back(columns);
  return assemble(text, constraints, SmallVector<Type>(numbers, b.getF32Type()),
                  operands);
}

/// Each register is an input and the result that takes its place. LLVM then
/// orders its users around the instruction, which itself names none of them.
Values Wgmma::pass(StringRef text, ValueRange registers) {
  std::string constraints;
  for (Value value : registers)
    constraints += value.getType().isF32() ? "=f," : "=r,";
  constraints += list("", 0, registers.size());
  return assemble(text, constraints, registers.getTypes(), registers);
}

Values Wgmma::fence(ValueRange registers) {
  return pass("wgmma.fence.sync.aligned;", registers);
}

Values Wgmma::wait(ValueRange registers, int64_t pending, StringRef note) {
  return pass("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";" +
                  note.str(),
              registers);
}
