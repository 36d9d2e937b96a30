//===- DeviceCpu.h - The CPU as a device ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_DEVICECPU_H
#define GIST_RUNTIME_DEVICE_DEVICECPU_H

#include "runtime/device/Device.h"

namespace gist {

Status openCpuDevice(const DeviceOptions &options,
                     std::unique_ptr<Device> &result);

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_DEVICECPU_H
