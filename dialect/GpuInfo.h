//===- GpuInfo.h - What GPUs can do -----------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GPUINFO_H
#define GIST_DIALECT_GPUINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace gist {

enum class GpuKind { Amd, Nvidia };

/// A row of the table of GPUs.
struct GpuInfo {
  const char *name; ///< "gfx942", "sm_90"; LLVM's name of the processor
  GpuKind kind;
  const char *triple;   ///< LLVM's name of the machine
  const char *features; ///< on top of the processor's
  // Threads that execute together: a wave of AMD, a warp of NVIDIA.
  int64_t waveSize;
  int64_t workgroupMemory; ///< bytes one workgroup may take
  // Of the whole card. Choices ask it how many workgroups fill the GPU.
  int64_t computeUnits;
  bool multipliesF8; ///< f8E4M3FNUZ by matrix instructions
};

/// The row called `name`, or null. An AMD GPU may be named by a target ID, such
/// as gfx942:sramecc+:xnack-, whose features are then in the row.
const GpuInfo *getGpuInfo(llvm::StringRef name);

/// All rows, in the order of messages.
llvm::ArrayRef<GpuInfo> getGpuTable();

} // namespace gist

#endif // GIST_DIALECT_GPUINFO_H
