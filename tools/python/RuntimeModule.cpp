//===- RuntimeModule.cpp - The extension gist._runtime --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/python/Errors.h"
#include "tools/python/Model.h"

using namespace gist;
using namespace gist::python;

namespace nb = nanobind;

/// What devices of a kind there are: name, architecture and driver of each.
static nb::list listDevices(const std::string &kind) {
  nb::list result;
  int count = 0;
  // A kind that is missing has no devices, which is not an error.
  if (!countDevices(kind, {}, count).ok())
    return result;
  for (int i = 0; i < count; ++i) {
    std::unique_ptr<Device> device;
    check(openDevice(kind, {.threads = 1, .index = i}, device));
    DeviceInfo info = device->info();
    result.append(nb::make_tuple(makeText(info.name),
                                 makeText(info.architecture),
                                 makeText(info.driver)));
  }
  return result;
}

NB_MODULE(_runtime, m) {
  m.attr("version") = GIST_VERSION;
  addModel(m);
  addSession(m);
  m.def("device_kinds", [] {
    nb::list kinds;
    for (const std::string &kind : deviceKinds())
      kinds.append(makeText(kind));
    return kinds;
  });
  m.def("list_devices",
        [](const nb::bytes &kind) { return listDevices(getString(kind)); });
}
