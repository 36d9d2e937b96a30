//===- X86Features.h - Features of x86 instructions -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_X86FEATURES_H
#define GIST_PASSES_TARGET_X86FEATURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace gist {

/// LLVM names of the features that one instruction needs. `name` is its name in
/// Intel's spelling, or the beginning of LLVM's own; `bytes` are its code.
/// Nothing where the instruction is not known.
std::optional<std::vector<llvm::StringRef>>
getX86Features(llvm::StringRef name, llvm::ArrayRef<uint8_t> bytes);

} // namespace gist

#endif // GIST_PASSES_TARGET_X86FEATURES_H
