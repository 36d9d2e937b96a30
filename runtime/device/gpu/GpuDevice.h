//===- GpuDevice.h - A GPU as a device --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One card behind one driver. All work goes to one stream, in order; a recorded
// command list is a graph whose branches the card may run side by side.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_GPU_GPUDEVICE_H
#define GIST_RUNTIME_DEVICE_GPU_GPUDEVICE_H

#include "runtime/device/gpu/GpuDriver.h"

#include <functional>
#include <map>

namespace gist {

class GpuDevice final : public Device {
public:
  /// Takes card number `index` of the driver.
  static Status open(std::unique_ptr<GpuDriver> driver, int index,
                     std::unique_ptr<Device> &result);
  ~GpuDevice() override;
  GpuDevice(const GpuDevice &) = delete;
  GpuDevice &operator=(const GpuDevice &) = delete;

  DeviceInfo info() const override;
  Status supports(const TargetSpec &target) const override {
    return driver->supports(card, target);
  }
  bool numbersByAddress() const override { return true; }
  int64_t tokensPerCall() const override { return 8192; }
  Status allocate(uint64_t size, DeviceMemory &result) override;
  Status share(Bytes content, DeviceMemory &result) override;
  Status upload(DeviceAddress to, Bytes from) override;
  Status download(DeviceAddress from, void *to, uint64_t size) override;
  Status clear(DeviceAddress at, uint64_t size) override;
  Status copy(DeviceAddress to, DeviceAddress from, uint64_t size) override;
  const void *hostPointer(DeviceAddress) const override { return nullptr; }
  Status loadCode(const ModuleSpec &spec, uint32_t target, Bytes code,
                  std::unique_ptr<DeviceCode> &result) override;
  Status submit(const CommandList &list,
                std::vector<CommandTime> *times) override;
  Status record(const CommandList &list,
                std::unique_ptr<Recording> &result) override;
  Status replay(Recording &recording) override;
  Status synchronize() override;
  Status nativeStream(void *&handle) const override {
    handle = stream;
    return enter();
  }
  Status measureLimits(DeviceLimits &limits) override;

protected:
  void release(DeviceAddress address, uint64_t size) override;

private:
  friend class GpuCode;
  friend class GpuRecording;

  /// Content of the host that is on the card once for all its users.
  struct Shared {
    std::pair<const uint8_t *, uint64_t> content;
    uint64_t users = 0;
  };

  GpuDevice(std::unique_ptr<GpuDriver> driver, int index)
      : driver(std::move(driver)), index(index) {}

  Status initialize();
  /// Makes this card current for this thread's driver calls.
  Status enter() const { return driver->enter(index, context); }
  /// Called before a resource is released: waits for the work that uses it, and
  /// makes this card current. False if the driver no longer responds.
  bool settle() { return synchronize().ok() || enter().ok(); }
  Status allocateRaw(uint64_t size, DeviceAddress &address);
  Status launch(const CommandList &list, const BoundCommand &command);
  Status ensureEvents(size_t count);
  Status measure(const CommandList &list, std::vector<CommandTime> &times);
  Status timeOnCard(const std::function<Status()> &work, double &seconds);

  std::unique_ptr<GpuDriver> driver;
  int index;
  GpuCard card;
  GpuHandle context = nullptr, stream = nullptr;
  bool attached = false;
  std::vector<GpuHandle> events; ///< for timing; grown as needed
  std::map<DeviceAddress, Shared> shared;
  std::map<std::pair<const uint8_t *, uint64_t>, DeviceAddress> sharedByContent;
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_GPU_GPUDEVICE_H
