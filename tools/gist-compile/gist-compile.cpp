//===- gist-compile.cpp - Compiles models into modules --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The main of gist-compile: reads the command line, runs passes/Driver and says
// how it ended.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Compile.h"
#include "passes/Driver/CrashReport.h"
#include "tools/gist-compile/CommandLine.h"
#include "tools/gist-compile/Summary.h"

#include "runtime/support/AtomicFile.h"

#include <chrono>
#include <csignal>
#include <cstdio>

using namespace gist;
using namespace gist::compile;

/// 0 done, 1 failed, 2 wrong usage, which parseOptions gives.
int main(int argc, char **argv) {
  setCrashReport();
  printStackOnCrash(argv[0]);
  // A limit on file sizes is a write that fails, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  Options options;
  if (std::optional<int> exitStatus = parseOptions(argc, argv, options))
    return *exitStatus;
  auto started = std::chrono::steady_clock::now();
  Progress progress(options.progress);
  // A file that cannot be written is found now, not after all the work.
  Status status;
  if (options.output != "-")
    status = checkWritable(options.output);
  if (status.ok())
    status = compileModel(options, progress);
  progress.end();
  // The bar is taken away before anything else is printed.
  progress.clear();
  // A reader of only the first lines closes the pipe: also a failure.
  if (std::fflush(stdout) != 0 && status.ok())
    status = Status::error(Code::Io, "cannot write the output");
  if (options.timing)
    progress.printTiming();
  // Words for people: scripts and other programs turn them off.
  bool speaks = options.progress == ShowProgress::Auto ||
                options.progress == ShowProgress::On;
  bool isModule = options.emit == Emit::Module && options.output != "-";
  if (status.ok() && isModule && speaks)
    printSummary(options.output, std::chrono::duration<double>(
                                     std::chrono::steady_clock::now() - started)
                                     .count());
  if (status.ok())
    return 0;
  std::fprintf(stderr, "gist-compile: error: %s\n", status.text.c_str());
  return 1;
}
