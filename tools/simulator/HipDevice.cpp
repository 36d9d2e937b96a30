//===- HipDevice.cpp - Device queries, errors, our own functions ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one device of the library, the texts of errors, and the functions that
// only the simulator has. Numbers are those of an MI300X, so that a program
// that sizes its work by them does here what it would do on the card.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Hip.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace gist::sim;

/// A function, so that it exists before the first call from a static object.
HipState &gist::sim::hipState() {
  static HipState state;
  return state;
}

hipError_t gist::sim::fail(hipError_t error) {
  if (error != hipSuccess)
    hipState().lastError = error;
  return error;
}

/// A failed kernel is reported by every later synchronisation, as on a card;
/// gistSimConfigure("reset") clears it.
hipError_t gist::sim::synchronize() {
  std::lock_guard lock(hipState().mutex);
  return fail(hipState().failed ? hipErrorLaunchFailure : hipSuccess);
}

//===----------------------------------------------------------------------===//
// The device: an MI300X
//===----------------------------------------------------------------------===//

static constexpr const char *kName = "AMD Instinct MI300X (simulated)";
static constexpr const char *kArch = "gfx942:sramecc+:xnack-";
// The host may have less: memory is taken when it is allocated.
static constexpr uint64_t kMemory = 192ull << 30;
static constexpr int kVersion = 60000000; // HIP 6.0.

namespace {
/// The numbers of the attributes are HIP 6's.
struct Attribute {
  int number; ///< hipDeviceAttribute_t
  int value;
};
} // namespace
static constexpr Attribute kAttributes[] = {
    {2, 2},           // AsyncEngineCount
    {5, 2100000},     // ClockRate, kHz
    {8, 1},           // ConcurrentKernels
    {10, 0},          // CooperativeLaunch
    {16, 0},          // Integrated
    {19, 4 << 20},    // L2CacheSize, per XCD
    {23, 9},          // ComputeCapabilityMajor
    {24, 0},          // ManagedMemory
    {26, 1024},       // MaxBlockDimX
    {27, 1024},       // MaxBlockDimY
    {28, 1024},       // MaxBlockDimZ
    {29, 2147483647}, // MaxGridDimX
    {30, 65536},      // MaxGridDimY
    {31, 65536},      // MaxGridDimZ
    {56, 1024},       // MaxThreadsPerBlock
    {57, 2048},       // MaxThreadsPerMultiProcessor
    {58, 2147483647}, // MaxPitch
    {59, 8192},       // MemoryBusWidth, bits
    {60, 1300000},    // MemoryClockRate, kHz
    {61, 4},          // ComputeCapabilityMinor
    {63, 304},        // MultiprocessorCount
    {67, 0},          // PciBusId
    {68, 0},          // PciDeviceId
    {71, 65536},      // MaxRegistersPerBlock
    {72, 131072},     // MaxRegistersPerMultiprocessor
    {74, 65536},      // MaxSharedMemoryPerBlock
    {75, 65536},      // SharedMemPerBlockOptin
    {76, 65536},      // SharedMemPerMultiprocessor
    {84, 2147483647}, // TotalGlobalMem does not fit an int
    {85, 1},          // UnifiedAddressing
    {87, 64},         // WarpSize
    {88, 0},          // MemoryPoolsSupported
    {10002, 65536},   // MaxSharedMemoryPerMultiprocessor
};

GIST_HIP_API hipError_t hipInit(unsigned flags) {
  return fail(flags == 0 ? hipSuccess : hipErrorInvalidValue);
}

GIST_HIP_API hipError_t hipRuntimeGetVersion(int *version) {
  if (!version)
    return fail(hipErrorInvalidValue);
  *version = kVersion;
  return hipSuccess;
}

GIST_HIP_API hipError_t hipGetDeviceCount(int *count) {
  if (!count)
    return fail(hipErrorInvalidValue);
  *count = 1;
  return hipSuccess;
}

GIST_HIP_API hipError_t hipSetDevice(int device) {
  return fail(device == 0 ? hipSuccess : hipErrorInvalidDevice);
}

GIST_HIP_API hipError_t hipDeviceGetName(char *name, int length, int device) {
  if (!name || length <= 0)
    return fail(hipErrorInvalidValue);
  if (device != 0)
    return fail(hipErrorInvalidDevice);
  std::strncpy(name, kName, static_cast<size_t>(length));
  name[length - 1] = '\0';
  return hipSuccess;
}

GIST_HIP_API hipError_t hipDeviceGetAttribute(int *value, int attribute,
                                              int device) {
  if (!value)
    return fail(hipErrorInvalidValue);
  if (device != 0)
    return fail(hipErrorInvalidDevice);
  // An attribute that is not listed is an error, so that a program does not
  // read zero for it.
  for (const Attribute &entry : kAttributes)
    if (entry.number == attribute) {
      *value = entry.value;
      return hipSuccess;
    }
  return fail(hipErrorInvalidValue);
}

/// hipDeviceProp_tR0600 is 1472 bytes; the fields a program may want are put at
/// their offsets, the others are zero.
GIST_HIP_API hipError_t hipGetDevicePropertiesR0600(void *properties,
                                                    int device) {
  if (!properties)
    return fail(hipErrorInvalidValue);
  if (device != 0)
    return fail(hipErrorInvalidDevice);
  // The struct is not declared here: HIP's headers are not needed to build
  // this.
  auto *bytes = static_cast<uint8_t *>(properties);
  std::memset(bytes, 0, 1472);
  auto number = [&](size_t offset, auto value) {
    std::memcpy(bytes + offset, &value, sizeof(value));
  };
  auto text = [&](size_t offset, const char *value) {
    std::memcpy(bytes + offset, value, std::strlen(value) + 1);
  };
  text(0, kName);
  number(288, size_t(kMemory)); // totalGlobalMem
  number(296, size_t(65536));   // sharedMemPerBlock
  number(304, 65536);           // regsPerBlock
  number(308, 64);              // warpSize
  number(320, 1024);            // maxThreadsPerBlock
  for (size_t axis = 0; axis < 3; ++axis) {
    number(324 + 4 * axis, 1024);                      // maxThreadsDim
    number(336 + 4 * axis, axis ? 65536 : 2147483647); // maxGridSize
  }
  number(348, 2100000);        // clockRate
  number(360, 9);              // major
  number(364, 4);              // minor
  number(388, 304);            // multiProcessorCount
  number(576, 1);              // concurrentKernels
  number(608, 1300000);        // memoryClockRate
  number(612, 8192);           // memoryBusWidth
  number(616, 4 << 20);        // l2CacheSize
  number(624, 2048);           // maxThreadsPerMultiProcessor
  number(640, size_t(65536));  // sharedMemPerMultiprocessor
  text(1160, kArch);           // gcnArchName
  number(1416, size_t(65536)); // maxSharedMemoryPerMultiProcessor
  return hipSuccess;
}

GIST_HIP_API hipError_t hipDeviceSynchronize() { return synchronize(); }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
struct ErrorText {
  hipError_t error;
  const char *name, *text;
};
} // namespace
static constexpr ErrorText kErrors[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration argument"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidImage, "hipErrorInvalidImage",
     "device kernel image is invalid"},
    {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorIllegalState, "hipErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure",
     "unspecified launch failure"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
     "the capture was not initiated in this stream"},
};

GIST_HIP_API const char *hipGetErrorName(hipError_t error) {
  for (const ErrorText &entry : kErrors)
    if (entry.error == error)
      return entry.name;
  return "hipErrorUnknown";
}

GIST_HIP_API const char *hipGetErrorString(hipError_t error) {
  for (const ErrorText &entry : kErrors)
    if (entry.error == error)
      return entry.text;
  return "unknown error";
}

GIST_HIP_API hipError_t hipGetLastError() {
  std::lock_guard lock(hipState().mutex);
  // Asking clears it, as HIP defines.
  return std::exchange(hipState().lastError, hipSuccess);
}

//===----------------------------------------------------------------------===//
// What only the simulator has
//===----------------------------------------------------------------------===//

/// The sentence of the first failed launch, or "". Valid until the next call
/// of a function of this library.
GIST_HIP_API const char *gistSimLastReport() {
  std::lock_guard lock(hipState().mutex);
  return hipState().report.c_str();
}

/// The counters of all launches so far, one "name value" line each.
GIST_HIP_API const char *gistSimCounters() {
  // Per thread, so that the text outlives the lock.
  static thread_local std::string text;
  std::lock_guard lock(hipState().mutex);
  text = hipState().counters.text();
  return text.c_str();
}

/// Sets "checks", "alignment", "threads" or "max-instructions"; "reset" clears
/// counters and a failure. False if there is no such setting.
GIST_HIP_API int gistSimConfigure(const char *name, uint64_t value) {
  HipState &state = hipState();
  std::lock_guard lock(state.mutex);
  std::string setting = name ? name : "";
  if (setting == "checks")
    state.config.checks = value;
  else if (setting == "alignment")
    // Values beyond the last level mean the last.
    state.config.alignment = static_cast<Alignment>(
        std::min<uint64_t>(value, static_cast<uint64_t>(Alignment::Strict)));
  else if (setting == "threads")
    state.config.threads = static_cast<unsigned>(value);
  else if (setting == "max-instructions")
    state.config.maxInstructions = value;
  else if (setting == "reset") {
    state.counters = Counters();
    state.report.clear();
    state.failed = false;
    state.lastError = hipSuccess;
  } else
    return 0;
  return 1;
}
