//===- Options.h - What the user asked gist-compile for ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_OPTIONS_H
#define GIST_TOOLS_GIST_COMPILE_OPTIONS_H

#include <cstdint>
#include <string>

namespace gist {

enum class EmitKind { Graph, Kernels, Llvm, Asm, Module };
enum class LogitsKind { Last, All, Both };
enum class ComputeKind { Auto, F32, Int8 };
enum class WeightsKind { Embed, Reference };

struct CompileOptions {
  std::string input;
  std::string output; ///< empty: standard output, or the input's name + .gist
  EmitKind emit = EmitKind::Module;
  std::string triple, cpu, features; ///< empty: this machine
  std::string dumpStages;            ///< folder, or empty
  ComputeKind compute = ComputeKind::Auto;
  LogitsKind logits = LogitsKind::Both;
  WeightsKind weights = WeightsKind::Embed;
  bool expandWeights = false;
  bool halfCache = true;
  int64_t context = 0; ///< 0: the model's own
  bool timing = false;
  bool progress = true;
};

/// Reads the command line. False when it is wrong, with a message printed.
bool parseOptions(int argc, char **argv, CompileOptions &options);

} // namespace gist

#endif // GIST_TOOLS_GIST_COMPILE_OPTIONS_H
