//===- GpuInfo.cpp - What GPUs can do -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GpuInfo.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <utility>

using namespace gist;

/// In the order of GpuInfo's fields: MI300X with 64 KiB of LDS and 304 compute
/// units; H100 and H200 with 227 KiB of shared memory and 132 SMs.
static constexpr GpuInfo kGpus[] = {
    {"gfx942", GpuKind::Amd, "amdgcn-amd-amdhsa", "", 64, 65536, 304, true},
    {"sm_90", GpuKind::Nvidia, "nvptx64-nvidia-cuda", "+ptx80", 32, 232448, 132,
     false},
};

llvm::ArrayRef<GpuInfo> gist::getGpuTable() { return kGpus; }

/// What a target ID may say of an AMD GPU, in the order that LLVM has, and the
/// features that it stands for. Code that leaves one open runs either way.
static constexpr std::pair<const char *, const char *> kTargetIds[] = {
    {":sramecc+", "+sramecc"},
    {":sramecc-", "-sramecc"},
    {":xnack+", "+xnack"},
    {":xnack-", "-xnack"},
    {":sramecc+:xnack+", "+sramecc,+xnack"},
    {":sramecc+:xnack-", "+sramecc,-xnack"},
    {":sramecc-:xnack+", "-sramecc,+xnack"},
    {":sramecc-:xnack-", "-sramecc,-xnack"},
};

/// Rows of target IDs, by name.
static llvm::StringMap<GpuInfo> makeTargetIds() {
  llvm::StringMap<GpuInfo> rows;
  for (const GpuInfo &gpu : kGpus)
    for (auto [id, features] : kTargetIds)
      if (gpu.kind == GpuKind::Amd) {
        GpuInfo &row = rows[(llvm::Twine(gpu.name) + id).str()] = gpu;
        row.features = features;
      }
  return rows;
}

const GpuInfo *gist::getGpuInfo(llvm::StringRef name) {
  for (const GpuInfo &gpu : kGpus)
    if (name == gpu.name)
      return &gpu;
  // Made once and never changed, so pointers into it stay valid.
  static const llvm::StringMap<GpuInfo> targetIds = makeTargetIds();
  auto found = targetIds.find(name);
  return found == targetIds.end() ? nullptr : &found->second;
}
