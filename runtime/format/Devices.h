//===- Devices.h - Kinds of devices and targets for them --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_DEVICES_H
#define GIST_RUNTIME_FORMAT_DEVICES_H

#include <string_view>

namespace gist {

/// Names of devices, as modules, options and openDevice spell them.
inline constexpr const char *kCpuDevice = "cpu";
inline constexpr const char *kHipDevice = "hip";
inline constexpr const char *kCudaDevice = "cuda";

/// A device and the compiler's default target for it.
struct DeviceTarget {
  const char *device;
  const char *target;
};
inline constexpr DeviceTarget kDeviceTargets[] = {
    {kCpuDevice, "cpu"}, {kHipDevice, "gfx942"}, {kCudaDevice, "sm_90"}};

/// The target for a device of this name; null where there is no such device.
constexpr const char *targetOfDevice(std::string_view device) {
  for (const DeviceTarget &row : kDeviceTargets)
    if (row.device == device)
      return row.target;
  return nullptr;
}

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_DEVICES_H
