//===- Summary.cpp - What was compiled, and what to do now ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-compile/Summary.h"

#include "runtime/format/Devices.h"
#include "runtime/module/Module.h"
#include "runtime/session/Generator.h"
#include "runtime/text/Tokenizer.h"

#include <algorithm>
#include <cstdio>

using namespace gist;

/// A line for a shell: a word is quoted where it has to be.
static std::string quoted(const std::string &word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                             "XYZ0123456789_-./+,=@:") == std::string::npos)
    return word;
  std::string result = "'";
  for (char letter : word)
    result += letter == '\'' ? "'\\''" : std::string(1, letter);
  return result + "'";
}

/// The command that a user most likely wants.
static std::string nextCommand(const Module &module, const std::string &path) {
  const ModuleSpec &spec = module.spec();
  auto has = [&](const char *name) {
    return std::any_of(
        spec.entries.begin(), spec.entries.end(),
        [&](const EntrySpec &entry) { return entry.name == name; });
  };
  bool hasCpu = std::any_of(
      spec.targets.begin(), spec.targets.end(),
      [](const TargetSpec &target) { return target.device == kCpuDevice; });
  std::string name = quoted(path);
  if (!hasCpu && !spec.targets.empty())
    name += " --device " + spec.targets.front().device;
  Tokenizer tokenizer;
  bool hasText = loadTokenizer(module, tokenizer).ok();
  if (hasText && has(kEntryPrefill))
    return tokenizer.spec().chatTemplate.empty()
               ? "gist-run generate " + name + " -p 'Once upon a time'"
               : "gist-run chat " + name;
  if (hasText && has(kEntryEmbed))
    return "gist-run embed " + name +
           " --similarity 'a fast car' 'a quick automobile' 'a slow snail'";
  if (has(kEntryPrefill))
    return "gist-run bench " + name;
  return "gist-run info " + quoted(path);
}

void compile::printSummary(const std::string &path, double seconds) {
  std::shared_ptr<const Module> module;
  // What was written a moment ago may be gone already.
  if (!Module::open(path, module).ok())
    return;
  constexpr double kMiB = 1 << 20;
  std::fprintf(stderr, "%s: %.1f MiB, compiled in %.1f s; now try\n  %s\n",
               path.c_str(),
               static_cast<double>(module->header().fileSize) / kMiB, seconds,
               nextCommand(*module, path).c_str());
}
