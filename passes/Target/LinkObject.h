//===- LinkObject.h - Shared objects out of object files --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_LINKOBJECT_H
#define GIST_PASSES_TARGET_LINKOBJECT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <vector>

namespace gist {

/// Links one ELF object, of any architecture, into a shared object, in this
/// process. Refuses code that needs more of its surroundings than memcpy,
/// memmove and memset.
mlir::FailureOr<std::vector<char>>
linkSharedObject(llvm::ArrayRef<char> object,
                 llvm::function_ref<void(const llvm::Twine &)> reportError);

/// Links the object of a GPU's kernels into a code object that a driver loads.
mlir::FailureOr<std::vector<char>>
linkCodeObject(llvm::ArrayRef<char> object,
               llvm::function_ref<void(const llvm::Twine &)> reportError);

} // namespace gist

#endif // GIST_PASSES_TARGET_LINKOBJECT_H
