//===- LowerToGpu.cpp - The pass -gist-lower-to-gpu -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/Tile/Gpu/GpuKernels.h"
#include "passes/Tile/Kernels.h"

namespace gist {
#define GEN_PASS_DEF_LOWERTOGPUPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct LowerToGPUPass final : gist::impl::LowerToGPUPassBase<LowerToGPUPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getGpuInfo(target)) {
      getOperation().emitError("unknown GPU: ") << target;
      return signalPassFailure();
    }
  }
};
} // namespace
