//===- UsedFeatures.h - What machine code needs of a CPU --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_USEDFEATURES_H
#define GIST_PASSES_TARGET_USEDFEATURES_H

#include "mlir/Support/LLVM.h"
#include "passes/Target/Info/TargetInfo.h"

#include <string>
#include <vector>

namespace gist {

/// LLVM names of the features that the instructions of `object`, an ELF object
/// compiled for `target`, need, in the order of runtime/format/CpuFeatures.def.
/// Read from the code: what a CPU's name promises and the code does not use is
/// not in the list. Refuses code with instructions whose features a runtime
/// cannot check.
mlir::FailureOr<std::vector<std::string>>
getUsedFeatures(llvm::ArrayRef<char> object, const CpuTarget &target,
                ReportError reportError);

} // namespace gist

#endif // GIST_PASSES_TARGET_USEDFEATURES_H
