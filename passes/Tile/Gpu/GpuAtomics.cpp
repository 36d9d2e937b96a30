//===- GpuAtomics.cpp - Words that workgroups share -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/GpuAtomics.h"

using namespace mlir;
using namespace gist;

static constexpr int64_t kWordBytes = 4;
/// Address spaces of both targets.
static constexpr unsigned kGlobalSpace = 1, kWorkgroupSpace = 3;

static bool isWorkgroup(Value buffer) {
  return gpu::GPUDialect::isWorkgroupMemoryAddressSpace(
      cast<MemRefType>(buffer.getType()).getMemorySpace());
}

/// LLVM's name for all workgroups of a launch, or one of them.
static StringRef getScope(GpuBuilder &b, bool workgroup) {
  if (b.getGpu().kind == GpuKind::Amd)
    return workgroup ? "workgroup" : "agent";
  return workgroup ? "block" : "device";
}

static Value getPointer(GpuBuilder &b, Value buffer, Value index) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address = b.add(base, b.mul(index, kWordBytes));
  unsigned space = isWorkgroup(buffer) ? kWorkgroupSpace : kGlobalSpace;
  Value word = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), space), word);
}

Value gist::atomicUpdate(GpuBuilder &b, LLVM::AtomicBinOp op, Value value,
                         Value buffer, Value index) {
  return LLVM::AtomicRMWOp::create(b, op, getPointer(b, buffer, index), value,
                                   LLVM::AtomicOrdering::monotonic,
                                   getScope(b, isWorkgroup(buffer)));
}

Value gist::atomicRead(GpuBuilder &b, Value buffer, Value index) {
  return LLVM::LoadOp::create(b, b.getI32Type(), getPointer(b, buffer, index),
                              kWordBytes, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/false,
                              /*isInvariantGroup=*/false,
                              LLVM::AtomicOrdering::monotonic,
                              getScope(b, isWorkgroup(buffer)));
}

void gist::atomicWrite(GpuBuilder &b, Value value, Value buffer, Value index) {
  LLVM::StoreOp::create(b, value, getPointer(b, buffer, index), kWordBytes,
                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                        /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::monotonic,
                        getScope(b, isWorkgroup(buffer)));
}

void gist::releaseFence(GpuBuilder &b) {
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release,
                        getScope(b, /*workgroup=*/false));
}

void gist::acquireFence(GpuBuilder &b) {
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire,
                        getScope(b, /*workgroup=*/false));
}
