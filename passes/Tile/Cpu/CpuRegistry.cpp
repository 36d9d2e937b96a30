//===- CpuRegistry.cpp - Every kind of kernel for CPUs --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/CpuKernel.h"

using namespace mlir;
using namespace gist;

namespace gist {
#define GIST_CPU_KERNEL(kind, entry) extern const CpuKernelEntry entry;
#include "passes/Tile/Cpu/CpuKernels.def"
#undef GIST_CPU_KERNEL
} // namespace gist

const CpuKernelEntry *gist::findCpuKernelEntry(KernelKind kind) {
  switch (kind) {
#define GIST_CPU_KERNEL(name, entry)                                           \
  case KernelKind::name:                                                       \
    return &entry;
#include "passes/Tile/Cpu/CpuKernels.def"
#undef GIST_CPU_KERNEL
  }
  return nullptr;
}

const CpuKernelEntry *gist::getCpuKernelEntry(func::FuncOp kernel) {
  if (failed(verifyKernelBody(kernel)))
    return nullptr;
  KernelKind kind = getKernelKind(kernel);
  const CpuKernelEntry *entry = findCpuKernelEntry(kind);
  if (!entry)
    kernel.emitOpError("is a kernel of kind ")
        << stringifyKernelKind(kind) << ", for which there is no CPU kernel";
  return entry;
}
