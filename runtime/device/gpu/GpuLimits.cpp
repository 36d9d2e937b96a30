//===- GpuLimits.cpp - What a card can do at most -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuDevice.h"

#include <algorithm>

using namespace gist;

/// Operations per second that a compute unit's matrix instructions do on 16-bit
/// numbers at the clock that the makers' tables assume; 0: not known.
static double getMatrixRate(const std::string &architecture) {
  // H100 SXM with 132 multiprocessors and MI300X with 304 compute units, dense,
  // by the makers' data sheets.
  if (architecture.starts_with("sm_90"))
    return 989.4e12 / 132;
  if (architecture.starts_with("gfx942"))
    return 1307.4e12 / 304;
  return 0;
}

/// The shortest of several times that `work` takes on the card.
Status GpuDevice::timeOnCard(const std::function<Status()> &work,
                             double &seconds) {
  constexpr int kTimes = 5;
  GIST_TRY(ensureEvents(2));
  seconds = 0;
  for (int i = 0; i < kTimes; ++i) {
    GIST_TRY(driver->check(driver->call.recordEvent(events[0], stream),
                           "record an event"));
    GIST_TRY(work());
    GIST_TRY(driver->check(driver->call.recordEvent(events[1], stream),
                           "record an event"));
    GIST_TRY(synchronize());
    float milliseconds = 0;
    GIST_TRY(driver->check(
        driver->call.elapsedTime(&milliseconds, events[0], events[1]),
        "measure time"));
    double taken = static_cast<double>(milliseconds) / 1e3;
    seconds = i == 0 ? taken : std::min(seconds, taken);
  }
  return {};
}

Status GpuDevice::measureLimits(DeviceLimits &limits) {
  // Much more than caches hold, if memory allows.
  constexpr uint64_t kCopied = uint64_t{1} << 28, kLeast = uint64_t{1} << 20;
  limits = {};
  limits.flopsPerSecond = card.computeUnits * getMatrixRate(card.architecture);
  uint64_t size = std::min(kCopied, info().memoryFree / 4);
  DeviceMemory from, to;
  GIST_TRY(allocate(std::max(size, kLeast), from));
  GIST_TRY(allocate(std::max(size, kLeast), to));
  double seconds = 0;
  GIST_TRY(timeOnCard(
      [&] {
        return driver->check(
            driver->call.copy(to.address(), from.address(), to.size(), stream),
            "copy on the card");
      },
      seconds));
  if (seconds > 0)
    // A copy reads every byte and writes it.
    limits.bytesPerSecond = 2 * static_cast<double>(to.size()) / seconds;

  constexpr int kLaunches = 64;
  GIST_TRY(timeOnCard(
      [&]() -> Status {
        for (int i = 0; i < kLaunches; ++i)
          GIST_TRY(driver->check(
              driver->call.fill(to.address(), 0, sizeof(uint32_t), stream),
              "clear memory"));
        return {};
      },
      seconds));
  limits.launchSeconds = seconds / kLaunches;
  return {};
}
