//===- Wgmma.cpp - Matrix instructions of four warps ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Wgmma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace gist;

/// Descriptors count bytes in these.
static constexpr int64_t kUnit = 16;
static constexpr int64_t kRowBytes = 128;

Wgmma::Wgmma(GpuBuilder &b, Type element)
    : b(b), element(element),
      sumType(LLVM::LLVMStructType::getLiteral(
          b.getContext(), SmallVector<Type>(kNumbers, b.getF32Type()))) {}

Value Wgmma::makeZero() {
  return makeSum(SmallVector<Value>(kNumbers, b.f32(0)));
}

Value Wgmma::makeSum(ValueRange numbers) {
  Value sum = LLVM::UndefOp::create(b, sumType);
  for (auto [i, number] : llvm::enumerate(numbers))
    sum = LLVM::InsertValueOp::create(b, sum, number, i);
  return sum;
}

Value Wgmma::getNumber(Value sum, int64_t i) {
  return LLVM::ExtractValueOp::create(b, sum, i);
}

Value Wgmma::getDescriptor(const SharedTile &tile, Value stage, Value row) {
  constexpr int64_t kSwizzle128 = int64_t(1) << 62;
  constexpr int64_t kGroupOfRows = int64_t(8 * kRowBytes / kUnit) << 32;
  constexpr int64_t kIgnored = int64_t(1) << 16;
  Value begin =
      memref::ExtractAlignedPointerAsIndexOp::create(b, tile.getBuffer());
  Value offset = b.mul(b.add(b.mul(stage, tile.getRows()), row), kRowBytes);
  Value address = b.createOrFold<arith::AndIOp>(
      b.div(b.add(begin, offset), kUnit), b.index(0x3fff));
  return b.createOrFold<arith::OrIOp>(
      arith::IndexCastUIOp::create(b, b.getI64Type(), address),
      arith::ConstantIntOp::create(b, b.getI64Type(),
                                   kSwizzle128 | kGroupOfRows | kIgnored));
}

Value Wgmma::advance(Value descriptor, int64_t rows, int64_t k) {
  int64_t units = (rows * kRowBytes + k * 2) / kUnit;
  return b.createOrFold<arith::AddIOp>(
      descriptor, arith::ConstantIntOp::create(b, b.getI64Type(), units));
}

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
  auto type = element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  return NVVM::WgmmaMmaAsyncOp::create(
      b, sumType, sum, rows, columns,
      NVVM::MMAShapeAttr::get(context, kRows, kColumns, kDepth), type, type,
      NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one,
      NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row, NVVM::MMALayout::col,
      NVVM::MMAIntOverflowAttr());
}

void Wgmma::commit() { NVVM::WgmmaGroupSyncAlignedOp::create(b); }

void Wgmma::wait(int64_t pending) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, pending);
}

Value Wgmma::finish(Value sum) {
  std::string constraints;
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < kNumbers; ++i) {
    constraints += "=f,";
    numbers.push_back(getNumber(sum, i));
  }
  for (int64_t i = 0; i < kNumbers; ++i)
    constraints += (i ? "," : "") + std::to_string(i);
  return LLVM::InlineAsmOp::create(
             b, sumType, numbers, "wgmma.wait_group.sync.aligned 0;",
             constraints, /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}
