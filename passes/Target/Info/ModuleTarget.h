//===- ModuleTarget.h - The machine that a module is for --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module says what it is compiled for, and passes read it there: none has an
// option for the target but -gist-set-target, which writes the attribute.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_INFO_MODULETARGET_H
#define GIST_PASSES_TARGET_INFO_MODULETARGET_H

#include "dialect/GistNames.h"
#include "dialect/GistTargetAttrs.h"
#include "dialect/GpuInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Target/Info/TargetInfo.h"

namespace gist {

/// The GPU that `module` is for; null, with an error at the module, where it
/// names none.
const GpuInfo *getGpuTarget(mlir::ModuleOp module);

/// The CPU that `module` is for, and its row of the table; an error at the
/// module where it names none.
mlir::FailureOr<CpuTarget> getCpuTarget(mlir::ModuleOp module);
mlir::FailureOr<TargetInfo> getCpuTargetInfo(mlir::ModuleOp module);

/// The place of the module's CPU in the table of targets: 0 is the best.
size_t getRank(mlir::ModuleOp module);

} // namespace gist

#endif // GIST_PASSES_TARGET_INFO_MODULETARGET_H
