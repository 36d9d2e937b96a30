//===- Devices.cpp - gist-run devices -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run devices`: what this machine can run modules on. A kind that is
// missing is listed with the reason.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  std::string path; ///< of a module, or empty
  DriverOptions drivers;
  bool asJson = false;
};

/// One kind of device: what was found, or why nothing was.
struct Found {
  std::string kind, error;
  std::vector<DeviceInfo> devices; ///< without a name: it could not be opened
  std::vector<std::string> errors; ///< per device
  /// What each would run of the module that was named, or why nothing.
  std::vector<std::string> chosen, refused;
};
} // namespace

/// A device that cannot be opened keeps its place in the list, so that indices
/// are those of --device-index.
static Found lookFor(const std::string &kind, const DriverOptions &drivers,
                     const Module *module) {
  Found found;
  found.kind = kind;
  DeviceOptions options = drivers.forKind(kind);
  int count = 0;
  if (Status status = countDevices(kind, options, count); !status.ok()) {
    found.error = status.text;
    return found;
  }
  for (options.index = 0; options.index < count; ++options.index) {
    std::unique_ptr<Device> device;
    Status status = openDevice(kind, options, device);
    found.devices.push_back(device ? device->info() : DeviceInfo());
    found.errors.push_back(status.text);
    found.chosen.emplace_back();
    found.refused.emplace_back();
    if (!module || !device)
      continue;
    uint32_t target = 0;
    status = chooseTarget(*device, module->spec(), target);
    if (status.ok())
      found.chosen.back() = module->spec().targets[target].name;
    else
      found.refused.back() = status.text;
  }
  return found;
}

/// The same line for CPUs and GPUs; what runs side by side has another name.
static void printDevice(const DeviceInfo &info) {
  std::printf("%s, %s, %u %s, %s of %s free\n", info.name.c_str(),
              info.architecture.c_str(), info.parallelism,
              info.kind == "cpu" ? "threads" : "compute units",
              sizeText(info.memoryFree).c_str(),
              sizeText(info.memoryTotal).c_str());
}

/// GPUs are numbered, because --device-index takes the number.
static void printText(const Found &found) {
  if (!found.error.empty()) {
    std::printf("%s: %s\n", found.kind.c_str(), found.error.c_str());
    return;
  }
  for (size_t i = 0; i < found.devices.size(); ++i) {
    const DeviceInfo &info = found.devices[i];
    std::printf("%s", found.kind.c_str());
    if (found.kind != "cpu")
      std::printf(" %zu", i);
    std::printf(": ");
    if (!found.errors[i].empty()) {
      std::printf("%s\n", found.errors[i].c_str());
      continue;
    }
    printDevice(info);
    if (!info.driver.empty())
      std::printf("  driver: %s\n", info.driver.c_str());
    if (!info.features.empty()) {
      std::printf("  features:");
      for (const std::string &feature : info.features)
        std::printf(" %s", feature.c_str());
      std::printf("\n");
    }
    if (!found.chosen[i].empty())
      std::printf("  runs: @%s\n", found.chosen[i].c_str());
    else if (!found.refused[i].empty())
      std::printf("  runs: nothing: %s\n", found.refused[i].c_str());
  }
}

/// An object for each device, or one with the error of its kind.
static void addJson(const Found &found, nlohmann::json &list) {
  if (!found.error.empty())
    list.push_back({{"kind", found.kind}, {"error", found.error}});
  for (size_t i = 0; i < found.devices.size(); ++i) {
    const DeviceInfo &info = found.devices[i];
    if (!found.errors[i].empty()) {
      list.push_back(
          {{"kind", found.kind}, {"index", i}, {"error", found.errors[i]}});
      continue;
    }
    list.push_back({{"kind", info.kind},
                    {"index", i},
                    {"name", info.name},
                    {"architecture", info.architecture},
                    {"driver", info.driver},
                    {"parallelism", info.parallelism},
                    {"memory_total", info.memoryTotal},
                    {"memory_free", info.memoryFree},
                    {"features", info.features}});
    if (!found.chosen[i].empty())
      list.back()["runs"] = found.chosen[i];
    else if (!found.refused[i].empty())
      list.back()["refuses"] = found.refused[i];
  }
}

/// A machine without a GPU is not an error.
static Status runDevices(const Options &options) {
  std::shared_ptr<const Module> module;
  if (!options.path.empty())
    GIST_TRY(Module::open(options.path, module));
  nlohmann::json list = nlohmann::json::array();
  for (const std::string &kind : deviceKinds()) {
    Found found = lookFor(kind, options.drivers, module.get());
    if (options.asJson)
      addJson(found, list);
    else
      printText(found);
  }
  if (options.asJson)
    std::printf("%s\n", list.dump(2).c_str());
  return {};
}

void run::addDevices(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "devices", "List what this machine can run modules on");
  command
      ->add_option("module", options->path,
                   "Module file: say also which of its targets each device "
                   "runs")
      ->type_name("MODULE");
  addDriverOptions(*command, options->drivers);
  command->add_flag("--json", options->asJson, "Print JSON");
  command->callback([options, &action] {
    action = [options] { return runDevices(*options); };
  });
}
