//===- Registers.cpp - Where numbers are kept -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Registers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace gist;

/// A word as a number, or the other way round; it is not negative.
static Value castIndex(GpuBuilder &b, Value value, Type type) {
  return value.getType() == type ? value
                                 : arith::IndexCastUIOp::create(b, type, value);
}

/// The value passes through an instruction that is none.
static Value hide(GpuBuilder &b, Value value, StringRef constraints) {
  if (b.getGpu().kind != GpuKind::Amd)
    return value;
  Type type = b.getI32Type();
  Value hidden =
      LLVM::InlineAsmOp::create(
          b, type, castIndex(b, value, type), /*asm_string=*/"", constraints,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
          /*operand_attrs=*/ArrayAttr())
          .getResult(0);
  return castIndex(b, hidden, value.getType());
}

Value gist::computeHere(GpuBuilder &b, Value number) {
  return hide(b, number, "=s,0");
}

Value gist::computeHereByThread(GpuBuilder &b, Value number) {
  return hide(b, number, "=v,0");
}

Value gist::takeFirstThread(GpuBuilder &b, Value number) {
  if (b.getGpu().kind != GpuKind::Amd)
    return number;
  Type word = b.getI32Type();
  Value first =
      ROCDL::ReadfirstlaneOp::create(b, word, castIndex(b, number, word));
  return castIndex(b, first, number.getType());
}
