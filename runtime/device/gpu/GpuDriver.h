//===- GpuDriver.h - The driver of a GPU, opened at run time ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HIP and the CUDA driver are nearly the same interface under two sets of
// names. What is the same is a table of function pointers; what differs is
// virtual. No header of a vendor is needed to build this.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_GPU_GPUDRIVER_H
#define GIST_RUNTIME_DEVICE_GPU_GPUDRIVER_H

#include "runtime/device/Device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gist {

/// A stream, event, module, function, graph or context of a driver.
using GpuHandle = void *;

struct GpuFunctions {
#define GPU_FUNCTION(name, hip, cuda, parameters) int(*name) parameters;
#include "runtime/device/gpu/GpuFunctions.def"
};

/// A launch without its stream; `arguments` point to the kernel's arguments.
struct GpuLaunch {
  GpuHandle function = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t sharedMemory = 0;
  void **arguments = nullptr;
  bool waits = false; ///< the kernel itself, for those before it
};

/// What a driver says about one of its cards.
struct GpuCard {
  std::string name;
  std::string architecture; ///< "gfx942:sramecc+:xnack-", "sm_90"
  unsigned computeUnits = 0;
  uint64_t sharedMemory = 0; ///< most that a workgroup may ask for, bytes
};

/// What a target's code is for: its name, without the rank that the targets of
/// a module for several ranks end with ("sm_90.rank1").
inline std::string architectureOf(const TargetSpec &target) {
  return target.name.substr(0, target.name.find('.'));
}

class GpuDriver {
public:
  /// Errors that the runtime tells from others; both drivers number them alike.
  static constexpr int kOutOfMemory = 2, kNoDevice = 100;

  virtual ~GpuDriver() = default;

  GpuFunctions call = {};

  const std::string &kind() const { return names.kind; }
  /// "HIP 6.0 (libamdhip64.so.6)".
  std::string description() const;
  /// The number of cards; it is an error if there are none.
  Status countCards(int &count) const;
  Status describeCard(int index, GpuCard &card) const;

  /// Ok, or what the driver could not do and why it says.
  Status check(int error, const char *what) const {
    return error == 0 ? Status() : failure(error, what);
  }
  Status failure(int error, const char *what) const;

  /// Take a card for this process, make it current for this thread, and release
  /// it.
  virtual Status attach(int index, GpuHandle &context) const = 0;
  virtual Status enter(int index, GpuHandle context) const = 0;
  virtual void detach(int index, GpuHandle context) const = 0;

  /// Why a card cannot run a target's code, or ok.
  virtual Status supports(const GpuCard &card,
                          const TargetSpec &target) const = 0;
  virtual Status loadModule(Bytes code, GpuHandle &module) const = 0;
  /// Lets a kernel have this much dynamic shared memory.
  virtual Status allowSharedMemory(GpuHandle function,
                                   uint32_t bytes) const = 0;
  virtual Status addNode(GpuHandle graph, const std::vector<GpuHandle> &after,
                         const GpuLaunch &launch, GpuHandle &node) const = 0;

protected:
  struct Names {
    std::string kind;                   ///< "hip"
    std::string title;                  ///< "HIP"
    std::vector<std::string> libraries; ///< in the order they are tried
    const char *versionFunction;        ///< int (int *version)
    int oldest;                         ///< version that is needed
  };
  explicit GpuDriver(Names names) : names(std::move(names)) {}

  /// Opens the library at `path`, or the first of its usual names, checks the
  /// version and finds the functions.
  Status open(const std::string &path);
  /// Finds a function by its name in the library; null if it is missing.
  template <typename Function>
  bool find(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(symbol(name));
    return function != nullptr;
  }
  /// The same, and opening the driver fails without it.
  template <typename Function>
  void need(Function *&function, const char *name) {
    if (!find(function, name) && missing.empty())
      missing = name;
  }

  virtual void resolveFunctions() = 0;
  /// "6.0" from the number that the driver gives.
  virtual std::string versionText(int version) const = 0;
  virtual std::string errorText(int error) const = 0;
  /// Everything but the name.
  virtual Status describe(int index, GpuCard &card) const = 0;
  Status attribute(int number, int index, int &value) const;

private:
  Status openLibrary(const std::string &path);
  void *symbol(const char *name) const;

  Names names;
  std::string libraryName;
  void *library = nullptr; ///< never closed: drivers do not survive that
  int version = 0;
  std::string missing; ///< the first required function that is missing
};

/// Open the driver's library at `path`, or under its usual names when empty.
Status openHipDriver(const std::string &path,
                     std::unique_ptr<GpuDriver> &result);
Status openCudaDriver(const std::string &path,
                      std::unique_ptr<GpuDriver> &result);

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_GPU_GPUDRIVER_H
