//===- Registers.cpp - Where numbers are kept -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Registers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace gist;

/// A word as a number, or the other way round; it is not negative.
static Value castIndex(GpuBuilder &b, Value value, Type type) {
  return value.getType() == type ? value
                                 : arith::IndexCastUIOp::create(b, type, value);
}

Value gist::hide(OpBuilder &builder, Location location, Value value,
                 StringRef constraints, bool isFixed) {
  return LLVM::InlineAsmOp::create(
             builder, location, value.getType(), value, /*asm_string=*/"",
             constraints, isFixed, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

static Value hideNumber(GpuBuilder &b, Value number, StringRef constraints) {
  if (b.getGpu().kind != GpuKind::Amd)
    return number;
  Value word = castIndex(b, number, b.getI32Type());
  return castIndex(b, hide(b, b.getLoc(), word, constraints, /*isFixed=*/true),
                   number.getType());
}

Value gist::computeHere(GpuBuilder &b, Value number) {
  return hideNumber(b, number, "=s,0");
}

Value gist::computeHereByThread(GpuBuilder &b, Value number) {
  return hideNumber(b, number, "=v,0");
}

Value gist::keepWhole(GpuBuilder &b, Value words) {
  if (b.getGpu().kind != GpuKind::Amd)
    return words;
  return hide(b, b.getLoc(), words, "=v,0", /*isFixed=*/false);
}

Value gist::takeFirstThread(GpuBuilder &b, Value number) {
  if (b.getGpu().kind != GpuKind::Amd)
    return number;
  Type word = b.getI32Type();
  Value first =
      ROCDL::ReadfirstlaneOp::create(b, word, castIndex(b, number, word));
  return castIndex(b, first, number.getType());
}
