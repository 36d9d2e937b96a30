//===- GpuInfo.h - What GPUs can do -----------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_INFO_GPUINFO_H
#define GIST_PASSES_TARGET_INFO_GPUINFO_H

#include "dialect/GistDialect.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace gist {

enum class GpuKind { Amd, Nvidia };

/// A row of the table of GPUs.
struct GpuInfo {
  const char *name; ///< "gfx942", "sm_90"; LLVM's name of the processor
  GpuKind kind;
  const char *triple;   ///< LLVM's name of the machine
  const char *features; ///< on top of the processor's
  int64_t waveSize;
  int64_t workgroupMemory; ///< bytes one workgroup may take
  int64_t computeUnits;
};

/// The row called `name`, or null.
const GpuInfo *getGpuInfo(llvm::StringRef name);

} // namespace gist

#endif // GIST_PASSES_TARGET_INFO_GPUINFO_H
