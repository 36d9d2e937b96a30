//===- TargetInfo.h - What targets can do -----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_INFO_TARGETINFO_H
#define GIST_PASSES_TARGET_INFO_TARGETINFO_H

#include "dialect/GistTileAttrs.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace gist {

/// A CPU to compile for, in LLVM's words. An empty triple is this machine; an
/// empty or "native" cpu is this machine's for its own triple, with the
/// features it really has, and the baseline of the architecture for another.
struct CpuTarget {
  std::string triple;
  std::string cpu;
  std::string features; ///< "+i8mm,-sve", in addition to those of the cpu
};

/// How a product is cut on a target.
struct MatmulShape {
  int64_t workgroupRows, workgroupColumns;
  int64_t registerRows, registerColumns;
};

/// How a product in bf16 is cut: a workgroup's part, and how much of the
/// reduction it rearranges at once.
struct Bf16Shape {
  int64_t rows, columns, depth;
};

/// How attention is cut: queries of a workgroup, keys of a step.
struct AttentionSteps {
  int64_t queries, keys;
};

/// A row of the table of targets: everything -gist-select-tile-config and the
/// packing of weights need to know.
struct TargetInfo {
  const char *name;
  const char *needs;              ///< features in LLVM's syntax
  int64_t lanes;                  ///< f32 numbers in a vector
  Instruction integerInstruction; ///< for 8-bit products
  int64_t packColumns, packDepth; ///< operand of that instruction
  bool packUnsigned;              ///< it takes weights without a sign
  MatmulShape integerShape, floatShape;
  /// For attention of many queries on f16 or bf16.
  Instruction attentionInstruction = Instruction::Fma;
  /// For 8-bit products of many rows by tiles of AMX; zeros if the target has
  /// no AMX.
  MatmulShape tileShape = {};
  /// For products of many rows with f16 or bf16 weights by tiles of AMX; zeros
  /// if the target has no AMX.
  Bf16Shape bf16Shape = {};
  /// Blocks that integer products of one row fetch weights ahead of their use.
  int64_t prefetch = 0;
  // One choice for all targets.
  AttentionSteps attention = {32, 64};
  int64_t rows = 4; ///< rows of a workgroup in kernels on whole rows
  /// Columns of a workgroup in integer products of one row: few, so that all
  /// threads finish together.
  int64_t columnsOfOneRow = 32;
};

using ReportError = llvm::function_ref<void(const llvm::Twine &)>;

/// Fills in what `target` leaves open; features become explicit.
mlir::FailureOr<CpuTarget> resolveTarget(const CpuTarget &target,
                                         ReportError reportError);

/// The best row of the table for `target`.
mlir::FailureOr<TargetInfo> getTargetInfo(const CpuTarget &target,
                                          ReportError reportError);

/// True if a resolved target has a feature, by LLVM's name.
bool hasFeature(const CpuTarget &target, llvm::StringRef feature);

/// The number of a row in the table; the best of an architecture is first.
size_t getTableRow(const TargetInfo &info);

/// How weights of `format` are packed for a target.
PackingAttr getPacking(mlir::MLIRContext *context, BlockFormat format,
                       const TargetInfo &target);

} // namespace gist

#endif // GIST_PASSES_TARGET_INFO_TARGETINFO_H
