//===- HipMemory.cpp - Allocation, copies, fills --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of the device is memory of this process. Copies and fills check that
// the device side is allocated, as a driver would: a host pointer in its place
// is an error on a card too.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Hip.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace gist::sim;

static constexpr uint64_t kDeviceMemory = 192ull << 30;

/// hipMalloc does not clear memory, and programs must not rely on its content:
/// fresh memory is filled with a byte that is not a NaN in any format but a
/// wrong value in all.
static constexpr int kFresh = 0xcb;

/// Page-aligned, as a driver gives it.
GIST_HIP_API hipError_t hipMalloc(void **pointer, size_t size) {
  if (!pointer)
    return fail(hipErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0)
    return hipSuccess;
  HipState &state = hipState();
  std::lock_guard lock(state.mutex);
  // The host may have less; then posix_memalign fails, or touching the pages
  // does.
  if (size > kDeviceMemory - std::min(kDeviceMemory, state.memory.bytesInUse()))
    return fail(hipErrorOutOfMemory);
  void *memory = nullptr;
  if (posix_memalign(&memory, 4096, size) != 0)
    return fail(hipErrorOutOfMemory);
  std::memset(memory, kFresh, size);
  state.memory.add(memory, size);
  *pointer = memory;
  return hipSuccess;
}

/// Only what was allocated here can be freed, and once.
GIST_HIP_API hipError_t hipFree(void *pointer) {
  if (!pointer)
    return hipSuccess;
  HipState &state = hipState();
  std::lock_guard lock(state.mutex);
  if (!state.memory.remove(pointer))
    return fail(hipErrorInvalidValue);
  std::free(pointer);
  return hipSuccess;
}

GIST_HIP_API hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  HipState &state = hipState();
  std::lock_guard lock(state.mutex);
  if (total)
    *total = kDeviceMemory;
  if (free)
    *free = kDeviceMemory - std::min(kDeviceMemory, state.memory.bytesInUse());
  return hipSuccess;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// hipMemcpyKind.
enum CopyKind : int {
  HostToHost = 0,
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  Default = 4
};

static bool isDevice(const void *pointer, size_t size) {
  return hipState().memory.find(reinterpret_cast<uintptr_t>(pointer), size);
}

/// `kind` says which side must be memory of the device.
static hipError_t copy(void *target, const void *source, size_t size, int kind,
                       HipStream *stream) {
  if (size == 0)
    return hipSuccess;
  if (!target || !source || kind < HostToHost || kind > Default)
    return fail(hipErrorInvalidValue);
  // The check comes when the work runs: what is captured in a graph may be
  // allocated or freed in between.
  return submit(stream, [=]() {
    // `Default` leaves the direction open, so nothing is checked.
    bool toDevice = kind == HostToDevice || kind == DeviceToDevice;
    bool fromDevice = kind == DeviceToHost || kind == DeviceToDevice;
    if ((toDevice && !isDevice(target, size)) ||
        (fromDevice && !isDevice(source, size)))
      return fail(hipErrorInvalidValue);
    // The two may overlap.
    std::memmove(target, source, size);
    return hipSuccess;
  });
}

GIST_HIP_API hipError_t hipMemcpy(void *target, const void *source, size_t size,
                                  int kind) {
  return copy(target, source, size, kind, nullptr);
}
GIST_HIP_API hipError_t hipMemcpyHtoD(void *target, void *source, size_t size) {
  return copy(target, source, size, HostToDevice, nullptr);
}
GIST_HIP_API hipError_t hipMemcpyDtoH(void *target, void *source, size_t size) {
  return copy(target, source, size, DeviceToHost, nullptr);
}
GIST_HIP_API hipError_t hipMemcpyHtoDAsync(void *target, const void *source,
                                           size_t size, HipStream *stream) {
  return copy(target, source, size, HostToDevice, stream);
}
GIST_HIP_API hipError_t hipMemcpyDtoHAsync(void *target, void *source,
                                           size_t size, HipStream *stream) {
  return copy(target, source, size, DeviceToHost, stream);
}
GIST_HIP_API hipError_t hipMemcpyDtoDAsync(void *target, void *source,
                                           size_t size, HipStream *stream) {
  return copy(target, source, size, DeviceToDevice, stream);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

/// `count` is in elements of T.
template <typename T>
static hipError_t fill(void *target, T value, size_t count, HipStream *stream) {
  return submit(stream, [=]() {
    if (count && !isDevice(target, count * sizeof(T)))
      return fail(hipErrorInvalidValue);
    std::fill_n(static_cast<T *>(target), count, value);
    return hipSuccess;
  });
}

GIST_HIP_API hipError_t hipMemsetD8Async(void *target, unsigned char value,
                                         size_t count, HipStream *stream) {
  return fill(target, value, count, stream);
}
GIST_HIP_API hipError_t hipMemsetD32(void *target, int value, size_t count) {
  return fill(target, value, count, nullptr);
}
