//===- GpuInfo.cpp - What GPUs can do -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Target/GpuInfo.h"

using namespace gist;

static constexpr GpuInfo kGpus[] = {
    {"gfx942", GpuKind::Amd, "amdgcn-amd-amdhsa", "", 64, 65536, 304},
    {"sm_90", GpuKind::Nvidia, "nvptx64-nvidia-cuda", "+ptx80", 32, 232448,
     132},
};

llvm::ArrayRef<GpuInfo> gist::getGpuTable() { return kGpus; }

const GpuInfo *gist::getGpuInfo(llvm::StringRef name) {
  for (const GpuInfo &gpu : kGpus)
    if (name == gpu.name)
      return &gpu;
  return nullptr;
}
