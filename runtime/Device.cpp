//===- Device.cpp - Opens a device by name --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"

#include "runtime/DeviceCpu.h"

using namespace gist;

std::vector<std::string> gist::deviceKinds() { return {"cpu"}; }

Status gist::openDevice(const std::string &kind, const DeviceOptions &options,
                        std::unique_ptr<Device> &result) {
  if (kind == "cpu")
    return openCpuDevice(options, result);
  if (kind == "hip" || kind == "cuda")
    return Status::error(Code::Unsupported,
                         "this build has no %s device; it can run on: cpu",
                         kind.c_str());
  return Status::error(Code::BadArgument,
                       "no device is called '%s'; there are cpu, hip and cuda",
                       kind.c_str());
}
