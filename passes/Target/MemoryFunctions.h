//===- MemoryFunctions.h - Memory without a C library -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_MEMORYFUNCTIONS_H
#define GIST_PASSES_TARGET_MEMORYFUNCTIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace gist {

/// Defines memset, memcpy and memmove in `module`, which LLVM may call by
/// itself: code that no C library is linked to brings them along.
void addMemoryFunctions(llvm::Module &module);

} // namespace gist

#endif // GIST_PASSES_TARGET_MEMORYFUNCTIONS_H
