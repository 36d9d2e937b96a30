//===- GpuDriver.cpp - The driver of a GPU, opened at run time ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuDriver.h"

#include <dlfcn.h>

using namespace gist;

Status GpuDriver::openLibrary(const std::string &path) {
  std::vector<std::string> candidates = names.libraries;
  if (!path.empty())
    candidates = {path};
  std::string tried, looked;
  bool isThere = !path.empty(); // A user who names a driver reads why.
  for (const std::string &name : candidates) {
    library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      libraryName = name;
      return {};
    }
    // The loader's sentence begins with the name.
    const char *why = ::dlerror();
    std::string reason = why ? why : name;
    isThere |= reason.find("No such file") == std::string::npos;
    tried += "; " + reason;
    looked += ", " + name;
  }
  // A machine without such a card has none of its libraries.
  if (!isThere)
    return Status::error(Code::NotFound, "there is no %s driver: looked for %s",
                         names.title.c_str(), looked.c_str() + 2);
  return Status::error(Code::NotFound, "cannot open the %s driver: %s",
                       names.title.c_str(), tried.c_str() + 2);
}

void *GpuDriver::symbol(const char *name) const {
  return ::dlsym(library, name);
}

Status GpuDriver::open(const std::string &path) {
  GIST_TRY(openLibrary(path));
  // The version first: an old driver lacks functions that newer ones have, and
  // its age is the better reason.
  int (*getVersion)(int *) = nullptr;
  if (!find(getVersion, names.versionFunction))
    return Status::error(
        Code::Unsupported, "%s is not a %s driver: it has no function %s",
        libraryName.c_str(), names.title.c_str(), names.versionFunction);
  GIST_TRY(check(getVersion(&version), "say its version"));
  if (version < names.oldest)
    return Status::error(Code::Unsupported,
                         "the %s driver %s is version %s; %s or newer is "
                         "needed",
                         names.title.c_str(), libraryName.c_str(),
                         versionText(version).c_str(),
                         versionText(names.oldest).c_str());
  resolveFunctions();
  if (!missing.empty())
    return Status::error(Code::Unsupported,
                         "the %s driver %s has no function "
                         "%s",
                         names.title.c_str(), libraryName.c_str(),
                         missing.c_str());
  return {};
}

std::string GpuDriver::description() const {
  return names.title + " " + versionText(version) + " (" + libraryName + ")";
}

Status GpuDriver::failure(int error, const char *what) const {
  return Status::error(error == kOutOfMemory ? Code::OutOfMemory : Code::Device,
                       "the %s driver could not %s: %s", names.title.c_str(),
                       what, errorText(error).c_str());
}

Status GpuDriver::countCards(int &count) const {
  count = 0;
  int error = call.initialize(0);
  if (error == 0)
    error = call.deviceCount(&count);
  if (error != 0 && error != kNoDevice)
    return failure(error, "look for cards");
  if (count <= 0)
    return Status::error(Code::NotFound, "%s sees no card",
                         description().c_str());
  return {};
}

Status GpuDriver::attribute(int number, int index, int &value) const {
  return check(call.deviceAttribute(&value, number, index),
               "describe the card");
}

Status GpuDriver::describeCard(int index, GpuCard &card) const {
  char name[256] = {};
  GIST_TRY(
      check(call.deviceName(name, sizeof(name) - 1, index), "name the card"));
  card.name = name;
  return describe(index, card);
}
