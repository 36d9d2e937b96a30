//===- Device.cpp - Opens a device by name --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Device.h"

#include "runtime/device/DeviceCpu.h"
#include "runtime/device/PageStore.h"
#include "runtime/device/gpu/GpuDevice.h"
#include "runtime/format/Devices.h"
#include "runtime/support/OutOfMemory.h"

using namespace gist;

std::vector<std::string> gist::deviceKinds() {
  std::vector<std::string> kinds;
  for (const DeviceTarget &row : kDeviceTargets)
    kinds.emplace_back(row.device);
  return kinds;
}

static Status openDriver(const std::string &kind, const DeviceOptions &options,
                         std::unique_ptr<GpuDriver> &driver) {
  if (kind == kHipDevice)
    return openHipDriver(options.library, driver);
  if (kind == kCudaDevice)
    return openCudaDriver(options.library, driver);
  return Status::error(Code::BadArgument,
                       "there is no device '%s'; expected cpu, hip or cuda",
                       kind.c_str());
}

Status gist::countDevices(const std::string &kind, const DeviceOptions &options,
                          int &count) {
  // The machine is one CPU device, however many sockets it has.
  count = 1;
  if (kind == kCpuDevice)
    return {};
  std::unique_ptr<GpuDriver> driver;
  GIST_TRY(openDriver(kind, options, driver));
  return driver->countCards(count);
}

Status gist::openDevice(const std::string &kind, const DeviceOptions &options,
                        std::unique_ptr<Device> &result) try {
  if (kind == kCpuDevice)
    return openCpuDevice(options, result);
  std::unique_ptr<GpuDriver> driver;
  GIST_TRY(openDriver(kind, options, driver));
  return GpuDevice::open(std::move(driver), options.index, result);
}
GIST_CATCH_OUT_OF_MEMORY

Status Device::copy(DeviceAddress to, DeviceAddress from, uint64_t size) {
  std::vector<uint8_t> content(size);
  GIST_TRY(download(from, content.data(), size));
  GIST_TRY(upload(to, {content.data(), size}));
  return synchronize(); // It is copied when `content` goes.
}

std::unique_ptr<PageStore> Device::openPages() { return nullptr; }

Status gist::chooseTarget(const Device &device, const ModuleSpec &spec,
                          uint32_t &target, const RankSpec &ranks,
                          uint32_t rank) {
  // All reasons are kept: a user who has the wrong module wants to know what
  // each target lacks, not only the last one.
  std::string refused;
  for (uint32_t i = 0; i < spec.targets.size(); ++i) {
    if (ranks.rankOf(i) != rank)
      continue;
    Status status = device.supports(spec.targets[i]);
    if (status.ok()) {
      target = i;
      return {};
    }
    refused += "; '" + spec.targets[i].name + "' " + status.text;
  }
  DeviceInfo info = device.info();
  return Status::error(
      Code::Unsupported, "the module has no code for this %s device, %s%s",
      info.kind.c_str(), info.architecture.c_str(), refused.c_str());
}
