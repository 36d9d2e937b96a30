//===- CompilerModule.cpp - The extension gist._compiler ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist-compile as a function. It takes the words of gist-compile's command
// line, so that both check the same things and say the same sentences.
//
//===----------------------------------------------------------------------===//

#include "tools/python/Errors.h"

#include "passes/Driver/Compile.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-compile/CommandLine.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

using namespace gist;
using namespace gist::compile;

namespace nb = nanobind;

static Status compileWords(const std::vector<std::string> &words,
                           std::vector<std::string> &warnings) {
  Options options;
  GIST_TRY(parseWords(words, options));
  Progress progress(options.progress);
  progress.tellWarnings(
      [&](const std::string &sentence) { warnings.push_back(sentence); });
  // A file that cannot be written is found now, not after all the work.
  if (options.output != "-")
    GIST_TRY(checkWritable(options.output));
  return compileModel(options, progress);
}

/// Gives the warnings.
static nb::list compileModelOf(const std::vector<nb::bytes> &words) {
  std::vector<std::string> given, warnings;
  for (const nb::bytes &word : words)
    given.emplace_back(word.c_str(), word.size());
  Status status;
  {
    nb::gil_scoped_release release;
    // The linker inside the compiler works for one caller at a time.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    status = compileWords(given, warnings);
  }
  python::check(status);
  nb::list result;
  for (const std::string &warning : warnings)
    result.append(python::makeText(warning));
  return result;
}

NB_MODULE(_compiler, m) { m.def("compile", compileModelOf); }
