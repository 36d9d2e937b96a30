//===- GistNames.h - Names of the attributes that passes add ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every discardable attribute of the dialect: what it stands on, what it holds
// and which pass reads it. VerifyAttrs.cpp enforces the first two; a name that
// is not listed there is refused, so a new one needs a line here and one there.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTNAMES_H
#define GIST_DIALECT_GISTNAMES_H

#include "llvm/ADT/StringRef.h"

namespace gist {

//===--- Modules ----------------------------------------------------------===//

/// What the module is compiled for: #gist.cpu_target or #gist.gpu_target
/// (GistTargetAttrs.td). Every pass that asks reads it.
inline constexpr llvm::StringLiteral kTargetAttr = "gist.target";

//===--- Kernel functions (GistProgramOps.td) -----------------------------===//

/// What a kernel function computes: #gist.kernel (GistKernelAttrs.td).
inline constexpr llvm::StringLiteral kKernelAttr = "gist.kernel";
/// What -gist-select-tile-config chose.
inline constexpr llvm::StringLiteral kTileAttr = "gist.tile";
/// Up to three sizes of the grid, x first, each a map of the kernel's numbers.
inline constexpr llvm::StringLiteral kGridAttr = "gist.grid";
/// Threads of a workgroup: an array of one number.
inline constexpr llvm::StringLiteral kWorkgroupAttr = "gist.workgroup";
/// Bytes of dynamic workgroup memory that a launch must give.
inline constexpr llvm::StringLiteral kSharedMemoryAttr = "gist.shared_memory";
/// On a kernel for gfx942: how many of its waves a SIMD is to have. Otherwise
/// LLVM makes room for many by giving up the order that hides latencies.
inline constexpr llvm::StringLiteral kWavesAttr = "gist.waves_per_simd";
/// On an argument that holds words of control, zero at the start.
inline constexpr llvm::StringLiteral kControlArgAttr = "gist.control";

//===--- Ops of kernels ---------------------------------------------------===//

/// On a branch: on gfx942 the kernel's arguments are loaded where it begins, so
/// that they, and what follows from them, take no scalar registers elsewhere.
inline constexpr llvm::StringLiteral kLoadArgumentsAttr = "gist.load_arguments";

//===--- Host functions ---------------------------------------------------===//

/// On an argument or a result: what the module calls it.
inline constexpr llvm::StringLiteral kNameAttr = "gist.name";
/// On a result: which tensor inside the model it shows.
inline constexpr llvm::StringLiteral kObservedAttr = "gist.observed";
/// On an argument that is state: cleared when a session starts anew.
inline constexpr llvm::StringLiteral kZeroOnResetAttr = "gist.zero_on_reset";
/// On an argument that is state: read back as a statistic under its name.
inline constexpr llvm::StringLiteral kStatisticAttr = "gist.statistic";
/// The bytes of scratch that a call takes, in the symbols of planned sizes.
inline constexpr llvm::StringLiteral kArenaSizeAttr = "gist.arena_size";

//===--- Weights ----------------------------------------------------------===//

/// The format of the blocks that a packed weight is made of.
inline constexpr llvm::StringLiteral kFormatAttr = "gist.format";
/// The order that those are packed in.
inline constexpr llvm::StringLiteral kPackingAttr = "gist.packing";
/// The names of the weights that it consists of, one below the other.
inline constexpr llvm::StringLiteral kPartsAttr = "gist.parts";

//===--- Selections -------------------------------------------------------===//

/// The layer whose attention a selection is for.
inline constexpr llvm::StringLiteral kLayerAttr = "gist.layer";

} // namespace gist

#endif // GIST_DIALECT_GISTNAMES_H
