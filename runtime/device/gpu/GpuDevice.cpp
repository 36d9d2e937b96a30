//===- GpuDevice.cpp - A GPU as a device: its memory ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuDevice.h"

#include <algorithm>
#include <cinttypes>

using namespace gist;

Status GpuDevice::open(std::unique_ptr<GpuDriver> driver, int index,
                       std::unique_ptr<Device> &result) {
  int count = 0;
  GIST_TRY(driver->countCards(count));
  if (index < 0 || index >= count)
    return Status::error(
        Code::NotFound, "there is no %s device %d; %s sees %d, counted from 0",
        driver->kind().c_str(), index, driver->description().c_str(), count);
  std::unique_ptr<GpuDevice> device(new GpuDevice(std::move(driver), index));
  GIST_TRY(device->initialize());
  result = std::move(device);
  return {};
}

Status GpuDevice::initialize() {
  GIST_TRY(driver->describeCard(index, card));
  GIST_TRY(driver->attach(index, context));
  attached = true;
  // Our work neither waits for that of other libraries nor blocks it.
  constexpr unsigned kNonBlocking = 1;
  return driver->check(driver->call.createStream(&stream, kNonBlocking),
                       "make a stream");
}

GpuDevice::~GpuDevice() {
  if (!attached)
    return;
  // Handles know their card, so they are destroyed even if the driver can no
  // longer make the card current.
  (void)enter();
  for (GpuHandle event : events)
    driver->call.destroyEvent(event);
  if (stream)
    driver->call.destroyStream(stream);
  driver->detach(index, context);
}

DeviceInfo GpuDevice::info() const {
  DeviceInfo info;
  info.kind = driver->kind();
  info.name = card.name;
  info.architecture = card.architecture;
  info.driver = driver->description();
  info.parallelism = card.computeUnits;
  size_t free = 0, total = 0;
  if (enter().ok() && driver->call.memoryInfo(&free, &total) == 0) {
    info.memoryFree = free;
    info.memoryTotal = total;
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status GpuDevice::allocateRaw(uint64_t size, DeviceAddress &address) {
  GIST_TRY(enter());
  int error = driver->call.allocate(&address, size);
  if (error != GpuDriver::kOutOfMemory)
    return driver->check(error, "allocate memory");
  DeviceInfo now = info();
  return Status::error(Code::OutOfMemory,
                       "cannot allocate %" PRIu64 " bytes on %s: %" PRIu64
                       " of its %" PRIu64 " bytes are free",
                       size, card.name.c_str(), now.memoryFree,
                       now.memoryTotal);
}

Status GpuDevice::allocate(uint64_t size, DeviceMemory &result) {
  // CUDA refuses an allocation of 0 bytes.
  size = std::max<uint64_t>(size, 1);
  DeviceAddress address = 0;
  GIST_TRY(allocateRaw(size, address));
  result = DeviceMemory(this, address, size);
  return clear(address, size);
}

Status GpuDevice::share(Bytes content, DeviceMemory &result) {
  // By address, not by content: callers keep the bytes alive as long as the
  // result, so that no other bytes can come to lie there.
  std::pair<const uint8_t *, uint64_t> key(content.data, content.size);
  auto known = sharedByContent.find(key);
  if (known == sharedByContent.end()) {
    DeviceAddress address = 0;
    GIST_TRY(allocateRaw(std::max<uint64_t>(content.size, 1), address));
    // Gives the memory back on every way out but the last, also where the host
    // has no memory for the lines below.
    DeviceMemory owner(this, address, content.size);
    GIST_TRY(upload(address, content));
    auto entry = shared.try_emplace(address).first;
    try {
      sharedByContent.emplace(key, address);
    } catch (...) {
      shared.erase(entry);
      throw;
    }
    entry->second = {.content = key, .users = 1};
    result = std::move(owner);
    return {};
  }
  ++shared[known->second].users;
  result = DeviceMemory(this, known->second, content.size);
  return {};
}

void GpuDevice::release(DeviceAddress address, uint64_t) {
  auto entry = shared.find(address);
  if (entry != shared.end()) {
    if (--entry->second.users != 0)
      return;
    sharedByContent.erase(entry->second.content);
    shared.erase(entry);
  }
  // Work that still uses it must be over; a driver error cannot be returned
  // here; the next call reports it.
  if (settle())
    driver->call.free(address);
}

Status GpuDevice::upload(DeviceAddress to, Bytes from) {
  if (from.size == 0)
    return {};
  GIST_TRY(enter());
  return driver->check(driver->call.upload(to, from.data, from.size, stream),
                       "copy to the card");
}

Status GpuDevice::download(DeviceAddress from, void *to, uint64_t size) {
  if (size == 0)
    return {};
  GIST_TRY(enter());
  GIST_TRY(driver->check(driver->call.download(to, from, size, stream),
                         "copy from the card"));
  Status status = synchronize();
  // A copy in flight must not outlive its destination.
  if (!status.ok())
    driver->call.synchronize(stream);
  return status;
}

Status GpuDevice::clear(DeviceAddress at, uint64_t size) {
  if (size == 0)
    return {};
  GIST_TRY(enter());
  return driver->check(driver->call.fill(at, 0, size, stream), "clear memory");
}

Status GpuDevice::copy(DeviceAddress to, DeviceAddress from, uint64_t size) {
  if (size == 0)
    return {};
  GIST_TRY(enter());
  return driver->check(driver->call.copy(to, from, size, stream),
                       "copy on the card");
}

Status GpuDevice::synchronize() {
  GIST_TRY(enter());
  return driver->check(driver->call.synchronize(stream),
                       "finish the work on the card");
}
