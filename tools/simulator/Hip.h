//===- Hip.h - The part of the HIP API that is offered ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, numbers and signatures are those of HIP 6, so that a program that
// opens libamdhip64 can open this library instead. All work is done when it is
// submitted; streams only matter while they are captured.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_HIP_H
#define GIST_TOOLS_SIMULATOR_HIP_H

#include "tools/simulator/Simulator.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define GIST_HIP_API extern "C" __attribute__((visibility("default")))

/// Only the codes that this library returns.
enum hipError_t : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorLaunchFailure = 719,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureUnmatched = 903,
};

namespace gist::sim {

/// A graph is the captured work in the order it was submitted: every
/// dependency points backwards.
using HipGraph = std::vector<std::function<hipError_t()>>;
using HipGraphNode = struct HipGraphNodeNumber *;

/// Work of a stream is done at once, so a stream holds no queue.
struct HipStream {
  std::shared_ptr<HipGraph> capture; ///< While it is captured.
  bool isOrigin = false;             ///< The capture began on this stream.
};

/// Times are the host's.
struct HipEvent {
  double milliseconds = 0;
  bool recorded = false;
  std::weak_ptr<HipGraph> capture; ///< Recorded inside this capture.
};

struct HipModule {
  std::unique_ptr<CodeObject> object;
};

/// Everything the library knows; guarded by its mutex.
struct HipState {
  std::recursive_mutex mutex;
  MemoryMap memory;
  Config config;
  Counters counters;
  std::string report;                ///< Of the first failed launch.
  hipError_t lastError = hipSuccess; ///< For hipGetLastError.
  bool failed = false;               ///< Sticky, as on a card.
  HipStream defaultStream;
  std::vector<HipStream *> streams; ///< Without the default one.
};
HipState &hipState();

/// Remembers and returns an error.
hipError_t fail(hipError_t error);

/// Runs `work` now, or records it if the stream is captured.
hipError_t submit(HipStream *stream, std::function<hipError_t()> work);

/// hipErrorLaunchFailure once a launch has failed.
hipError_t synchronize();

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_HIP_H
