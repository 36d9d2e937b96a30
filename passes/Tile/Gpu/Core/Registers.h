//===- Registers.h - Where numbers are kept ---------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gfx942 keeps what is the same for all threads of a wave, and every comparison
// of lanes, in 102 scalar registers. LLVM computes early what it can, and what
// it then keeps is more than these hold in a kernel of many phases. These say
// where a number is to be computed; for sm_90 they do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_REGISTERS_H
#define GIST_PASSES_TILE_GPU_CORE_REGISTERS_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// `value`, passed through an empty inline asm, in a register that
/// `constraints` name. `isFixed`: it is not moved, whatever its operand.
mlir::Value hide(mlir::OpBuilder &builder, mlir::Location location,
                 mlir::Value value, llvm::StringRef constraints, bool isFixed);

// Numbers are not negative and below 2^31.

/// A number that is the same for all threads, hidden from LLVM so that it is
/// recomputed here and not kept in a register.
mlir::Value computeHere(GpuBuilder &b, mlir::Value number);
/// The same for a thread's own number or word. A number that is the same for
/// all threads becomes each thread's own, in a vector register.
mlir::Value computeHereByThread(GpuBuilder &b, mlir::Value number);
/// A vector of 2, 4, 8 ... words that a loop carries and that is then taken
/// apart: LLVM would take it apart where it is loaded, wait for it there, and
/// carry bytes.
mlir::Value keepWhole(GpuBuilder &b, mlir::Value words);
/// A number that all threads have, as one for all again.
mlir::Value takeFirstThread(GpuBuilder &b, mlir::Value number);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_REGISTERS_H
