//===- HipDriver.cpp - AMD's driver ---------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuDriver.h"

#include <algorithm>
#include <cstring>

using namespace gist;

namespace {

/// The first HIP that knows gfx942.
constexpr int kOldestHip = 6'00'00000;

/// hipDeviceAttribute_t.
constexpr int kHipMultiprocessorCount = 63, kMaxSharedMemoryPerBlock = 74;

/// hipKernelNodeParams.
struct HipKernelNode {
  uint32_t blockDim[3];
  void **extra;
  void *func;
  uint32_t gridDim[3];
  void **kernelParams;
  uint32_t sharedMemBytes;
};

class HipDriver final : public GpuDriver {
public:
  HipDriver()
      : GpuDriver({.kind = "hip",
                   .title = "HIP",
                   .libraries = {"libamdhip64.so.7", "libamdhip64.so.6",
                                 "libamdhip64.so.5", "libamdhip64.so"},
                   .versionFunction = "hipRuntimeGetVersion",
                   .oldest = kOldestHip}) {}
  using GpuDriver::open;

  // HIP's primary contexts are implied by the card's number.
  Status attach(int index, GpuHandle &context) const override {
    context = nullptr;
    return enter(index, context);
  }
  Status enter(int index, GpuHandle) const override {
    return check(setDevice(index), "use the card");
  }
  void detach(int, GpuHandle) const override {}

  Status supports(const GpuCard &card, const TargetSpec &target) const override;
  Status loadModule(Bytes code, GpuHandle &module) const override {
    return check(loadData(&module, code.data), "load the code");
  }
  /// All of LDS is allowed without asking.
  Status allowSharedMemory(GpuHandle, uint32_t) const override { return {}; }
  Status addNode(GpuHandle graph, const std::vector<GpuHandle> &after,
                 const GpuLaunch &launch, GpuHandle &node) const override;

protected:
  void resolveFunctions() override;
  std::string versionText(int version) const override {
    return std::to_string(version / 10'000'000) + "." +
           std::to_string(version / 100'000 % 100);
  }
  std::string errorText(int error) const override;
  Status describe(int index, GpuCard &card) const override;

private:
  std::string findArchitecture(int index) const;

  int (*setDevice)(int) = nullptr;
  int (*loadData)(GpuHandle *, const void *) = nullptr;
  const char *(*errorName)(int) = nullptr;
  const char *(*errorString)(int) = nullptr;
  int (*properties)(void *, int) = nullptr;   ///< may be missing
  const char *(*simulatorReport)() = nullptr; ///< only our simulator's
};

} // namespace

void HipDriver::resolveFunctions() {
#define GPU_FUNCTION(name, hip, cuda, parameters) need(call.name, #hip);
#include "runtime/device/gpu/GpuFunctions.def"
  need(setDevice, "hipSetDevice");
  need(loadData, "hipModuleLoadData");
  need(errorName, "hipGetErrorName");
  need(errorString, "hipGetErrorString");
  find(properties, "hipGetDevicePropertiesR0600");
  find(simulatorReport, "gistSimLastReport");
}

std::string HipDriver::errorText(int error) const {
  if (!errorName || !errorString)
    return "error " + std::to_string(error);
  std::string text =
      std::string(errorString(error)) + " (" + errorName(error) + ")";
  const char *report = simulatorReport ? simulatorReport() : nullptr;
  if (report && *report)
    text += std::string(": ") + report;
  return text;
}

/// The name with the features as the card has them. It is in a struct whose
/// layout has changed between versions, so it is looked for: a text that begins
/// with "gfx" behind the first member, the card's name.
std::string HipDriver::findArchitecture(int index) const {
  constexpr size_t kNameSize = 256;
  // Larger than any version of the struct.
  std::vector<char> bytes(size_t{16} << 10);
  if (!properties || properties(bytes.data(), index) != 0)
    return "";
  const char prefix[] = {'\0', 'g', 'f', 'x'};
  auto found = std::search(bytes.begin() + (kNameSize - 1), bytes.end() - 1,
                           std::begin(prefix), std::end(prefix));
  return found == bytes.end() - 1 ? "" : std::string(&*found + 1);
}

Status HipDriver::describe(int index, GpuCard &card) const {
  int units = 0, shared = 0;
  GIST_TRY(attribute(kHipMultiprocessorCount, index, units));
  GIST_TRY(attribute(kMaxSharedMemoryPerBlock, index, shared));
  card.computeUnits = static_cast<unsigned>(units);
  card.sharedMemory = static_cast<uint64_t>(shared);
  card.architecture = findArchitecture(index);
  return {};
}

/// Splits "gfx942:sramecc+:xnack-" into its parts.
static std::vector<std::string> splitTargetId(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Status HipDriver::supports(const GpuCard &card,
                           const TargetSpec &target) const {
  if (target.device != "hip" || target.format != CodeFormat::Hsaco)
    return Status::error(Code::Unsupported, "is code for %s",
                         target.device.c_str());
  if (card.architecture.empty())
    return Status::error(
        Code::Unsupported,
        "is code for %s, but the driver does not say which architecture %s has",
        target.name.c_str(), card.name.c_str());
  // A feature that the code does not name may be on or off.
  std::vector<std::string> wanted = splitTargetId(architectureOf(target));
  std::vector<std::string> present = splitTargetId(card.architecture);
  bool fits = wanted[0] == present[0];
  for (size_t i = 1; i < wanted.size(); ++i)
    fits &= std::find(present.begin() + 1, present.end(), wanted[i]) !=
            present.end();
  if (!fits)
    return Status::error(Code::Unsupported,
                         "is code for %s, but this device is %s",
                         target.name.c_str(), card.architecture.c_str());
  return {};
}

Status HipDriver::addNode(GpuHandle graph, const std::vector<GpuHandle> &after,
                          const GpuLaunch &launch, GpuHandle &node) const {
  HipKernelNode parameters = {};
  std::copy(launch.block.begin(), launch.block.end(), parameters.blockDim);
  std::copy(launch.grid.begin(), launch.grid.end(), parameters.gridDim);
  parameters.func = launch.function;
  parameters.kernelParams = launch.arguments;
  parameters.sharedMemBytes = launch.sharedMemory;
  return check(
      call.addKernelNode(&node, graph, after.data(), after.size(), &parameters),
      "add a launch to a graph");
}

Status gist::openHipDriver(const std::string &path,
                           std::unique_ptr<GpuDriver> &result) {
  auto driver = std::make_unique<HipDriver>();
  GIST_TRY(driver->open(path));
  result = std::move(driver);
  return {};
}
