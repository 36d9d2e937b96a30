//===- Device.h - What a device provides ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session talks to the CPU and to GPUs through this. Work is ordered: what is
// asked later sees the effects of what was asked before, and only download()
// and synchronize() wait. A command list runs without coming back to the host.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_DEVICE_H
#define GIST_RUNTIME_DEVICE_DEVICE_H

#include "runtime/module/RankSpec.h"
#include "runtime/support/Bytes.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gist {

class Device;
class PageStore;

/// An address as kernels see it; on the CPU an ordinary pointer.
using DeviceAddress = uint64_t;

struct DeviceInfo {
  std::string kind;         ///< "cpu", "hip", "cuda"
  std::string name;         ///< as the machine calls itself
  std::string architecture; ///< "aarch64", "gfx942:sramecc+:xnack-", "sm_90"
  std::string driver;       ///< GPU: "CUDA 13.0 (libcuda.so.1)"
  std::vector<std::string> features; ///< CPU: LLVM names that are present
  unsigned parallelism = 1;          ///< CPU threads or GPU compute units
  uint64_t memoryTotal = 0, memoryFree = 0;
};

/// What a device can do at most; 0: not known.
struct DeviceLimits {
  double bytesPerSecond = 0; ///< read and written by a copy, measured
  double flopsPerSecond = 0; ///< of 16-bit matrix instructions, by a table
  double launchSeconds = 0;  ///< of an empty kernel, measured
};

/// Memory of a device, given back when this is destroyed.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(Device *device, DeviceAddress address, uint64_t size)
      : device(device), start(address), length(size) {}
  ~DeviceMemory() { reset(); }
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  DeviceAddress address() const { return start; }
  uint64_t size() const { return length; }
  void reset();

private:
  void swap(DeviceMemory &other) noexcept {
    std::swap(device, other.device);
    std::swap(start, other.start);
    std::swap(length, other.length);
  }

  Device *device = nullptr; ///< null: memory is not owned
  DeviceAddress start = 0;
  uint64_t length = 0;
};

/// A target's loaded code. Kernel numbers are those of the module.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;
};

/// A kernel launch with every expression evaluated.
struct BoundCommand {
  uint32_t kernel = 0;
  std::array<uint32_t, 3> grid = {1, 1, 1}; ///< any 0: nothing to do
  uint32_t firstArg = 0, argCount = 0;      ///< in CommandList::args
  /// Earlier commands to wait for; null: all of them.
  const std::vector<uint32_t> *after = nullptr;
  /// Its one argument is a table of slots (KernelCode::byTable).
  bool byTable = false;
};

struct CommandList {
  const DeviceCode *code = nullptr;
  std::vector<BoundCommand> commands;
  std::vector<uint64_t> args; ///< 64-bit slots of all commands
};

/// When a command ran, in nanoseconds of the host's steady clock.
struct CommandTime {
  int64_t begin = 0, end = 0;
};

/// A command list made ready for running again and again (a captured graph).
class Recording {
public:
  virtual ~Recording() = default;
};

class Device {
public:
  virtual ~Device() = default;

  virtual DeviceInfo info() const = 0;

  /// Why code for this target cannot run here, or ok.
  virtual Status supports(const TargetSpec &target) const = 0;

  /// Whether a scalar argument is the address of an i64 word that holds it,
  /// rather than the number: on GPUs, where arguments of a recorded list are
  /// fixed and memory is not.
  virtual bool numbersByAddress() const { return false; }

  /// Tokens of a prompt from which on a call gains nothing by more of them.
  virtual int64_t tokensPerCall() const { return 512; }

  /// Memory aligned to 64 bytes or more; its content is zero.
  virtual Status allocate(uint64_t size, DeviceMemory &result) = 0;
  /// Read-only content of the host: the same memory on the CPU, elsewhere one
  /// copy for all users of these bytes. The host's bytes must outlive the
  /// result.
  virtual Status share(Bytes content, DeviceMemory &result) = 0;

  /// A place for pages that several parts of this device's memory can show;
  /// null where it has no such thing.
  virtual std::unique_ptr<PageStore> openPages();

  virtual Status upload(DeviceAddress to, Bytes from) = 0;
  virtual Status download(DeviceAddress from, void *to, uint64_t size) = 0;
  virtual Status clear(DeviceAddress at, uint64_t size) = 0;
  /// Copies memory of this device that does not overlap. By default through the
  /// host.
  virtual Status copy(DeviceAddress to, DeviceAddress from, uint64_t size);
  /// Where the host can read this memory directly once the work before is done;
  /// null where it must be downloaded.
  virtual const void *hostPointer(DeviceAddress at) const = 0;

  /// Loads a target's code and finds the symbols of the kernels it has.
  virtual Status loadCode(const ModuleSpec &spec, uint32_t target, Bytes code,
                          std::unique_ptr<DeviceCode> &result) = 0;

  /// Starts the commands. With `times`, waits and says when each one ran.
  virtual Status submit(const CommandList &list,
                        std::vector<CommandTime> *times) = 0;

  /// Prepares a list whose content will not change. `list` may go away.
  virtual Status record(const CommandList &list,
                        std::unique_ptr<Recording> &result) = 0;
  virtual Status replay(Recording &recording) = 0;

  virtual Status synchronize() = 0;

  /// Grows while commands run, however long one of them takes; 0 if a device
  /// cannot tell. Any thread may call this.
  virtual uint64_t progress() const { return 0; }

  /// Sets `stream` to the driver's stream that all work goes to, and makes this
  /// thread's driver calls mean this device: for libraries that work beside
  /// kernels. Null if the device has no stream.
  virtual Status nativeStream(void *&stream) const {
    stream = nullptr;
    return {};
  }

  /// Measures what bounds commands here; takes a moment, and memory.
  virtual Status measureLimits(DeviceLimits &limits) {
    limits = {};
    return {};
  }

protected:
  friend class DeviceMemory;
  virtual void release(DeviceAddress address, uint64_t size) = 0;
};

inline void DeviceMemory::reset() {
  if (device)
    device->release(start, length);
  device = nullptr;
  start = 0;
  length = 0;
}

struct DeviceOptions {
  unsigned threads = 0;     ///< CPU: 0 for one on each core it may use
  int index = 0;            ///< GPU: which card, as the driver counts them
  std::string library = {}; ///< GPU: path of the driver; empty: the usual names
};

/// Opens "cpu", "hip" or "cuda".
Status openDevice(const std::string &kind, const DeviceOptions &options,
                  std::unique_ptr<Device> &result);

/// Sets `target` to the first of the module's targets for `rank` that runs on
/// `device`: the compiler lists the most demanding first. The error says why
/// each does not.
Status chooseTarget(const Device &device, const ModuleSpec &spec,
                    uint32_t &target, const RankSpec &ranks = {},
                    uint32_t rank = 0);

/// The kinds that openDevice accepts, in the order of messages.
std::vector<std::string> deviceKinds();

/// The devices of one kind. `count` devices can be opened by their index; if
/// there are none the status says what was looked for.
Status countDevices(const std::string &kind, const DeviceOptions &options,
                    int &count);

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_DEVICE_H
