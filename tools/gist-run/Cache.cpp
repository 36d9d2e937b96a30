//===- Cache.cpp - gist-run cache -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run cache`: modules that were compiled because a model was named where
// a module was expected.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/ModuleCache.h"
#include "tools/running/Options.h"

#include <memory>

using namespace gist;
using namespace gist::run;

static Status printCache() {
  std::string folder;
  uint64_t limit = 0, total = 0;
  std::vector<CacheEntry> entries;
  GIST_TRY(cacheFolder(folder));
  GIST_TRY(cacheLimit(limit));
  GIST_TRY(listCache(entries));
  for (const CacheEntry &entry : entries) {
    char used[32] = "";
    std::tm time = {};
    if (::localtime_r(&entry.used, &time))
      std::strftime(used, sizeof(used), "%Y-%m-%d %H:%M", &time);
    std::printf("%10s  %s  %s\n", sizeText(entry.bytes).c_str(), used,
                entry.name.c_str());
    total += entry.bytes;
  }
  std::printf("%s of at most %s (GIST_CACHE_SIZE) in %s\n",
              sizeText(total).c_str(), sizeText(limit).c_str(), folder.c_str());
  return {};
}

void run::addCache(CLI::App &app, Action &action) {
  auto clear = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "cache", "List the models that were compiled because they were run");
  command->add_flag("--clear", *clear, "Remove them all");
  command->footer(
      "A model is compiled when it is run for the first time, and again when "
      "its files, the machine or the compiler change. Those that were not used "
      "for longest are removed when all are larger than GIST_CACHE_SIZE, in "
      "GiB (32 by default).");
  command->callback([clear, &action] {
    action = [clear] {
      if (*clear)
        GIST_TRY(trimCache(0, ""));
      return printCache();
    };
  });
}
