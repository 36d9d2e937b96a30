//===- GpuRegistry.cpp - Every kind of kernel for GPUs --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/GpuKernels.h"

using namespace mlir;
using namespace gist;

namespace gist {
#define GIST_GPU_KERNEL(kind, entry) extern const GpuKernelEntry entry;
#include "passes/Tile/Gpu/GpuKernels.def"
#undef GIST_GPU_KERNEL
} // namespace gist

const GpuKernelEntry *gist::findGpuKernelEntry(KernelKind kind) {
  switch (kind) {
#define GIST_GPU_KERNEL(name, entry)                                           \
  case KernelKind::name:                                                       \
    return &entry;
#include "passes/Tile/Gpu/GpuKernels.def"
#undef GIST_GPU_KERNEL
  }
  return nullptr;
}

const GpuKernelEntry *gist::getGpuKernelEntry(func::FuncOp kernel) {
  if (failed(verifyKernelBody(kernel)))
    return nullptr;
  KernelKind kind = getKernelKind(kernel);
  const GpuKernelEntry *entry = findGpuKernelEntry(kind);
  if (!entry)
    kernel.emitOpError("is a kernel of kind ")
        << stringifyKernelKind(kind) << ", for which there is no GPU kernel";
  return entry;
}

GpuTileInterface gist::selectGpuTile(func::FuncOp kernel, const GpuInfo &gpu,
                                     const GpuChoices &choices) {
  const GpuKernelEntry *entry = getGpuKernelEntry(kernel);
  return entry ? entry->choose(kernel, gpu, choices) : GpuTileInterface();
}
