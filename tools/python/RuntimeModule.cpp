//===- RuntimeModule.cpp - The extension gist._runtime --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/python/Errors.h"
#include "tools/python/Model.h"

#include "tools/running/ModuleCache.h"

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

/// Where the module of a model is or would be, and whether it is there.
static nb::tuple findCachedModule(const nb::bytes &model,
                                  const nb::bytes &target,
                                  const nb::bytes &compiler) {
  run::CachedModule cached;
  Status status;
  {
    std::string path = getString(model), machine = getString(target),
                program = getString(compiler);
    nb::gil_scoped_release release; // A large file takes seconds.
    status = run::findCached(path, machine, program, cached);
  }
  check(status);
  return nb::make_tuple(nb::bytes(cached.path.data(), cached.path.size()),
                        cached.exists);
}

static void trimCacheTo(const nb::bytes &keep) {
  uint64_t limit = 0;
  check(run::cacheLimit(limit));
  check(run::trimCache(limit, getString(keep)));
}

NB_MODULE(_runtime, m) {
  m.attr("version") = GIST_VERSION;
  addModel(m);
  addSession(m);
  m.def("is_model",
        [](const nb::bytes &path) { return run::isModel(getString(path)); });
  m.def("find_cached", findCachedModule);
  m.def("trim_cache", trimCacheTo);
  m.def("device_kinds", [] {
    nb::list kinds;
    for (const std::string &kind : deviceKinds())
      kinds.append(makeText(kind));
    return kinds;
  });
  m.def("list_devices",
        [](const nb::bytes &kind) { return listDevices(getString(kind)); });
}
