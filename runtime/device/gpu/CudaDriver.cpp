//===- CudaDriver.cpp - NVIDIA's driver -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuDriver.h"

#include <algorithm>
#include <cctype>
#include <charconv>

using namespace gist;

namespace {

/// The first CUDA that knows sm_90.
constexpr int kOldestCuda = 11080;

/// CUdevice_attribute.
constexpr int kCudaMultiprocessorCount = 16, kCapabilityMajor = 75,
              kCapabilityMinor = 76, kMaxSharedMemoryOptin = 97;
/// CUjit_option.
constexpr int kErrorLog = 5, kErrorLogSize = 6;
/// CUfunction_attribute.
constexpr int kMaxDynamicSharedMemory = 8;

/// What a kernel may have without an explicit request.
constexpr uint32_t kDefaultSharedMemory = 48u << 10;

/// CUDA_KERNEL_NODE_PARAMS_v1.
struct CudaKernelNode {
  void *func;
  uint32_t gridDim[3], blockDim[3];
  uint32_t sharedMemBytes;
  void **kernelParams;
  void **extra;
};

/// CUgraphEdgeData.
struct CudaEdge {
  uint8_t fromPort, toPort, type, reserved[5];
};
/// The later kernel may start as soon as the earlier one lets it, and waits
/// itself for what it needs.
constexpr CudaEdge kOverlapping = {
    .fromPort = 1, .toPort = 0, .type = 1, .reserved = {}};

class CudaDriver final : public GpuDriver {
public:
  CudaDriver()
      : GpuDriver({.kind = "cuda",
                   .title = "CUDA",
                   .libraries = {"libcuda.so.1"},
                   .versionFunction = "cuDriverGetVersion",
                   .oldest = kOldestCuda}) {}
  using GpuDriver::open;

  Status attach(int index, GpuHandle &context) const override {
    GIST_TRY(check(retainContext(&context, index), "use the card"));
    Status status = enter(index, context);
    if (!status.ok())
      detach(index, context);
    return status;
  }
  Status enter(int, GpuHandle context) const override {
    return check(setContext(context), "use the card");
  }
  void detach(int index, GpuHandle) const override { releaseContext(index); }

  Status supports(const GpuCard &card, const TargetSpec &target) const override;
  Status loadModule(Bytes code, GpuHandle &module) const override;
  Status allowSharedMemory(GpuHandle function, uint32_t bytes) const override {
    if (bytes <= kDefaultSharedMemory)
      return {};
    return check(setFunctionAttribute(function, kMaxDynamicSharedMemory,
                                      static_cast<int>(bytes)),
                 "give a kernel its shared memory");
  }
  Status addNode(GpuHandle graph, const std::vector<GpuHandle> &after,
                 const GpuLaunch &launch, GpuHandle &node) const override;

protected:
  void resolveFunctions() override;
  std::string versionText(int version) const override {
    return std::to_string(version / 1000) + "." +
           std::to_string(version / 10 % 100);
  }
  std::string errorText(int error) const override;
  Status describe(int index, GpuCard &card) const override;

private:
  int (*retainContext)(GpuHandle *, int) = nullptr;
  int (*releaseContext)(int) = nullptr;
  int (*setContext)(GpuHandle) = nullptr;
  int (*loadDataEx)(GpuHandle *, const void *, unsigned, int *,
                    void **) = nullptr;
  int (*setFunctionAttribute)(GpuHandle, int, int) = nullptr;
  /// Null before CUDA 12.3.
  int (*addDependencies)(GpuHandle, const GpuHandle *, const GpuHandle *,
                         const CudaEdge *, size_t) = nullptr;
  int (*errorName)(int, const char **) = nullptr;
  int (*errorString)(int, const char **) = nullptr;
};

} // namespace

void CudaDriver::resolveFunctions() {
#define GPU_FUNCTION(name, hip, cuda, parameters) need(call.name, #cuda);
#include "runtime/device/gpu/GpuFunctions.def"
  need(retainContext, "cuDevicePrimaryCtxRetain");
  need(releaseContext, "cuDevicePrimaryCtxRelease_v2");
  need(setContext, "cuCtxSetCurrent");
  need(loadDataEx, "cuModuleLoadDataEx");
  need(setFunctionAttribute, "cuFuncSetAttribute");
  find(addDependencies, "cuGraphAddDependencies_v2");
  need(errorName, "cuGetErrorName");
  need(errorString, "cuGetErrorString");
}

std::string CudaDriver::errorText(int error) const {
  const char *name = nullptr, *text = nullptr;
  if (!errorName || errorName(error, &name) != 0 || !name ||
      errorString(error, &text) != 0 || !text)
    return "error " + std::to_string(error);
  return std::string(text) + " (" + name + ")";
}

Status CudaDriver::describe(int index, GpuCard &card) const {
  int units = 0, shared = 0, major = 0, minor = 0;
  GIST_TRY(attribute(kCudaMultiprocessorCount, index, units));
  GIST_TRY(attribute(kMaxSharedMemoryOptin, index, shared));
  GIST_TRY(attribute(kCapabilityMajor, index, major));
  GIST_TRY(attribute(kCapabilityMinor, index, minor));
  card.computeUnits = static_cast<unsigned>(units);
  card.sharedMemory = static_cast<uint64_t>(shared);
  card.architecture = "sm_" + std::to_string(10 * major + minor);
  return {};
}

/// "sm_90a" is 90 and 'a'; false for anything else than an architecture.
static bool parseArchitecture(const std::string &text, int &number,
                              char &suffix) {
  if (!text.starts_with("sm_"))
    return false;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data() + 3, end, number);
  suffix = rest == end ? '\0' : *rest;
  return error == std::errc() && end - rest <= 1;
}

Status CudaDriver::supports(const GpuCard &card,
                            const TargetSpec &target) const {
  if (target.device != "cuda" || target.format != CodeFormat::Ptx)
    return Status::error(Code::Unsupported, "is code for %s",
                         target.device.c_str());
  int wanted = 0, present = 0;
  char suffix = '\0', none = '\0';
  bool fits = parseArchitecture(architectureOf(target), wanted, suffix) &&
              parseArchitecture(card.architecture, present, none);
  // Plain PTX runs on newer cards too; 'a' on this one alone, 'f' on newer ones
  // of the family.
  if (suffix == '\0')
    fits &= present >= wanted;
  else if (suffix == 'a')
    fits &= present == wanted;
  else
    fits &= suffix == 'f' && present >= wanted && present / 10 == wanted / 10;
  if (!fits)
    return Status::error(Code::Unsupported,
                         "is code for %s, but this device is %s",
                         target.name.c_str(), card.architecture.c_str());
  return {};
}

Status CudaDriver::loadModule(Bytes code, GpuHandle &module) const {
  // PTX is a C string to the driver.
  std::string text(reinterpret_cast<const char *>(code.data), code.size);
  std::string log(size_t{8} << 10, '\0');
  int options[] = {kErrorLog, kErrorLogSize};
  // The driver wants the size inside the pointer.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  int error =
      loadDataEx(&module, text.c_str(), std::size(options), options, values);
  if (error == 0)
    return {};
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  while (!log.empty() && std::isspace(static_cast<unsigned char>(log.back())))
    log.pop_back();
  std::replace(log.begin(), log.end(), '\n', ' ');
  Status status = failure(error, "load the code");
  if (!log.empty())
    status.text += ": " + log;
  return status;
}

Status CudaDriver::addNode(GpuHandle graph, const std::vector<GpuHandle> &after,
                           const GpuLaunch &launch, GpuHandle &node) const {
  CudaKernelNode parameters = {};
  std::copy(launch.block.begin(), launch.block.end(), parameters.blockDim);
  std::copy(launch.grid.begin(), launch.grid.end(), parameters.gridDim);
  parameters.func = launch.function;
  parameters.kernelParams = launch.arguments;
  parameters.sharedMemBytes = launch.sharedMemory;
  // Launches of a chain overlap. One that several launches come before waits
  // for them to be over.
  bool overlaps = launch.waits && addDependencies && after.size() == 1;
  int error = call.addKernelNode(&node, graph, after.data(),
                                 overlaps ? 0 : after.size(), &parameters);
  if (error == 0 && overlaps)
    error = addDependencies(graph, after.data(), &node, &kOverlapping, 1);
  return check(error, "add a launch to a graph");
}

Status gist::openCudaDriver(const std::string &path,
                            std::unique_ptr<GpuDriver> &result) {
  auto driver = std::make_unique<CudaDriver>();
  GIST_TRY(driver->open(path));
  result = std::move(driver);
  return {};
}
