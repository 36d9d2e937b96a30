//===- Experts.h - Products with experts on CPUs ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_EXPERTS_H
#define GIST_PASSES_TILE_CPU_EXPERTS_H

#include "passes/Tile/Cpu/CpuKernel.h"

namespace gist {

/// True if the kernel is called for one token, whose experts are all different
/// workgroups.
bool isOneToken(mlir::Operation *experts);

/// How the product is cut, by `shape` and with `instruction`. The columns of a
/// workgroup are of one expert.
CpuProductAttr chooseExpertTile(mlir::Operation *experts,
                                const TargetInfo &target,
                                const MatmulShape &shape,
                                Instruction instruction);

/// Whether `tile` is one that `distributeExperts` takes; reports if not.
mlir::LogicalResult verifyExpertTile(mlir::Operation *experts,
                                     CpuProductAttr tile);

/// Cuts the kernel by columns and experts. A workgroup gathers the rows that
/// name its expert and multiplies some at a time.
mlir::FailureOr<mlir::scf::ForallOp>
distributeExperts(mlir::RewriterBase &rewriter, mlir::Operation *experts,
                  CpuProductAttr tile);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_EXPERTS_H
