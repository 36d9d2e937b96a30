//===- PageStore.h - Pages that several places show -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_PAGESTORE_H
#define GIST_RUNTIME_DEVICE_PAGESTORE_H

#include "runtime/device/Device.h"

#include <memory>

namespace gist {

/// Memory of a device by offsets, of which only what was stored takes room. Its
/// pages can be shown at several addresses at once, and are there once. All
/// numbers but those of load() are multiples of pageSize().
class PageStore {
public:
  virtual ~PageStore() = default;

  /// Copies memory of the device to an offset that has nothing.
  virtual Status store(uint64_t offset, DeviceAddress from, uint64_t size) = 0;
  /// Copies what was stored.
  virtual Status load(uint64_t offset, DeviceAddress to, uint64_t size) = 0;
  /// Lets memory of allocate() show what was stored. What is written there
  /// later belongs to that place alone. Where the system has no more mappings,
  /// it is copied.
  virtual Status show(uint64_t offset, DeviceAddress at, uint64_t size) = 0;
  /// Gives pages back. None of them may be shown.
  virtual void forget(uint64_t offset, uint64_t size) = 0;

  virtual uint64_t pageSize() const = 0;
  /// Addresses that can show pages at once at most; neighbours that follow one
  /// another in the store too count as one.
  virtual uint64_t mostShown() const = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_PAGESTORE_H
