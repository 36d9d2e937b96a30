//===- GpuAtomics.cpp - Words that workgroups share -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/GpuAtomics.h"

#include <limits>

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

/// The aligned pointer does not include the offset of a view: buffers have
/// none.
static Value getPointer(GpuBuilder &b, Value buffer, Value index) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address = b.add(base, b.mul(index, kWordBytes));
  unsigned space = isWorkgroup(buffer) ? kWorkgroupSpace : kGlobalSpace;
  Value word = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), space), word);
}

static LLVM::AtomicOrdering getOrdering(GpuBuilder &b, Order order) {
  if (b.getGpu().kind == GpuKind::Amd)
    return LLVM::AtomicOrdering::monotonic;
  switch (order) {
  case Order::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case Order::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case Order::Release:
    return LLVM::AtomicOrdering::release;
  case Order::Both:
    break;
  }
  llvm_unreachable("no order of a read or write");
}

static void fence(GpuBuilder &b, LLVM::AtomicOrdering ordering) {
  LLVM::FenceOp::create(b, ordering, getScope(b, /*workgroup=*/false));
}

Value gist::atomicUpdate(GpuBuilder &b, LLVM::AtomicBinOp op, Value value,
                         Value buffer, Value index, Order order) {
  // LLVM writes no order into these instructions of PTX.
  bool isNvidia = b.getGpu().kind == GpuKind::Nvidia;
  if (isNvidia && (order == Order::Release || order == Order::Both))
    fence(b, LLVM::AtomicOrdering::release);
  Value old = LLVM::AtomicRMWOp::create(b, op, getPointer(b, buffer, index),
                                        value, LLVM::AtomicOrdering::monotonic,
                                        getScope(b, isWorkgroup(buffer)));
  if (isNvidia && (order == Order::Acquire || order == Order::Both))
    fence(b, LLVM::AtomicOrdering::acquire);
  return old;
}

Value gist::drawTicket(GpuBuilder &b, Value buffer, Value index) {
  if (b.getGpu().kind == GpuKind::Amd)
    return atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), buffer, index);
  // There are fewer tickets than that. No bound at all would be an addition.
  Value bound = b.i32(std::numeric_limits<int32_t>::max());
  return atomicUpdate(b, LLVM::AtomicBinOp::uinc_wrap, bound, buffer, index);
}

Value gist::atomicRead(GpuBuilder &b, Value buffer, Value index, Order order) {
  return LLVM::LoadOp::create(b, b.getI32Type(), getPointer(b, buffer, index),
                              kWordBytes, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/false,
                              /*isInvariantGroup=*/false, getOrdering(b, order),
                              getScope(b, isWorkgroup(buffer)));
}

void gist::atomicWrite(GpuBuilder &b, Value value, Value buffer, Value index,
                       Order order) {
  LLVM::StoreOp::create(b, value, getPointer(b, buffer, index), kWordBytes,
                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                        /*isInvariantGroup=*/false, getOrdering(b, order),
                        getScope(b, isWorkgroup(buffer)));
}

void gist::releaseFence(GpuBuilder &b) {
  if (b.getGpu().kind == GpuKind::Amd)
    fence(b, LLVM::AtomicOrdering::release);
}

void gist::acquireFence(GpuBuilder &b) {
  if (b.getGpu().kind == GpuKind::Amd)
    fence(b, LLVM::AtomicOrdering::acquire);
}
