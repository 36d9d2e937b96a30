//===- Devices.cpp - gist-run devices -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/gist-run/Options.h"

#include "nlohmann/json.hpp"

#include <memory>

using namespace gist;
using namespace gist::run;

static Status runDevices(bool asJson) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string &kind : deviceKinds()) {
    std::unique_ptr<Device> device;
    Status status = openDevice(kind, {}, device);
    if (!status.ok()) {
      if (asJson)
        list.push_back({{"kind", kind}, {"error", status.text}});
      else
        std::printf("%s: %s\n", kind.c_str(), status.text.c_str());
      continue;
    }
    DeviceInfo info = device->info();
    if (asJson) {
      list.push_back({{"kind", info.kind},
                      {"name", info.name},
                      {"architecture", info.architecture},
                      {"parallelism", info.parallelism},
                      {"memory_total", info.memoryTotal},
                      {"memory_free", info.memoryFree},
                      {"features", info.features}});
      continue;
    }
    std::printf("%s: %s, %s, %u %s, %s of %s free\n", info.kind.c_str(),
                info.name.c_str(), info.architecture.c_str(), info.parallelism,
                info.kind == "cpu" ? "threads" : "compute units",
                sizeText(info.memoryFree).c_str(),
                sizeText(info.memoryTotal).c_str());
    if (!info.features.empty()) {
      std::printf("  features:");
      for (const std::string &feature : info.features)
        std::printf(" %s", feature.c_str());
      std::printf("\n");
    }
  }
  if (asJson)
    std::printf("%s\n", list.dump(2).c_str());
  return {};
}

void run::addDevices(CLI::App &app, Action &action) {
  auto asJson = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "devices", "List what this machine can run modules on");
  command->add_flag("--json", *asJson, "Print JSON");
  command->callback(
      [asJson, &action] { action = [asJson] { return runDevices(*asJson); }; });
}
