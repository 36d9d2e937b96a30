//===- Selection.h - Selections and attention on them -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_SELECTION_H
#define GIST_PASSES_TILE_CPU_SELECTION_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Kernel/Scratch.h"

namespace gist {

/// The memory that a selection works in.
mlir::FailureOr<KernelScratch> getSelectionScratch(mlir::func::FuncOp kernel);

/// Make the op a loop over workgroups that works on buffers, and return that
/// loop. The kernel then takes its destinations as buffers.
mlir::FailureOr<mlir::scf::ForallOp>
distributeSelection(mlir::RewriterBase &rewriter, mlir::Operation *op);
mlir::FailureOr<mlir::scf::ForallOp>
distributeAttend(mlir::RewriterBase &rewriter, AttendOp op);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_SELECTION_H
