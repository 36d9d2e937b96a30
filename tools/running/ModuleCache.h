//===- ModuleCache.h - Modules that are compiled once -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model file or folder can be named where a module is expected. It is
// compiled the first time, and the module is kept: by what the model's files
// contain, by the machine and by the compiler. The modules that
// were not used for longest are removed when all together are too large.
//
// A cached module runs because the compiler noted it as known
// (runtime/module/Trust.h); that it lies in the cache is not a reason.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_MODULECACHE_H
#define GIST_TOOLS_RUNNING_MODULECACHE_H

#include "runtime/support/Status.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace gist::run {

/// True for a GGUF file or a folder, which must be compiled before they run.
bool isModel(const std::string &path);

/// Where the module of a model is, or would be.
struct CachedModule {
  std::string path;
  bool exists = false;
};

/// Finds the module of a model for a target of gist-compile (cpu, gfx942,
/// sm_90). `compiler` is the file of the compiler. Makes the cache's folder.
Status findCached(const std::string &model, const std::string &target,
                  const std::string &compiler, CachedModule &result);

/// A module of the cache.
struct CacheEntry {
  std::string path, name;
  uint64_t bytes = 0;
  std::time_t used = 0;
};

/// $XDG_CACHE_HOME/gist, or ~/.cache/gist.
Status cacheFolder(std::string &folder);
/// Bytes that the modules may have together: GIST_CACHE_SIZE in GiB, or 32 GiB.
Status cacheLimit(uint64_t &bytes);
/// The modules, the one that was used last first. Without a folder there are
/// none.
Status listCache(std::vector<CacheEntry> &entries);
/// Removes modules until `limit` bytes are left, except the one at `keep`.
Status trimCache(uint64_t limit, const std::string &keep);

/// Replaces the path of a model by that of its module, which is compiled where
/// it is not in the cache. Leaves the path of a module as it is.
Status compileOnce(const std::string &device, std::string &path);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_MODULECACHE_H
