//===- Options.h - What a user asks gist-compile for ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_OPTIONS_H
#define GIST_PASSES_DRIVER_OPTIONS_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gist::compile {

/// How far to go, in the order of the stages.
enum class Emit {
  Graph,    ///< the model on tensors, as imported
  Kernels,  ///< kernels on tensors and the list of calls
  Llvm,     ///< LLVM IR of the kernels
  Assembly, ///< assembly of the kernels
  Module,   ///< the file that gist-run takes
};

/// What products with block-quantised weights are computed in.
enum class Compute { Auto, F32, Int8 };

/// What selections compare rows in.
enum class Gram { Exact, Fp8 };

/// What is said about the code of GPU kernels.
enum class Report { None, Remarks, Resources, ResourcesJson };

enum class ShowProgress { Auto, On, Off };

struct Options {
  std::string model;
  std::string output; ///< "-" is standard output

  std::vector<std::string> targets = {"cpu"};
  std::string triple, cpu, features;

  Emit emit = Emit::Module;
  std::string dumpStages; ///< a folder, or empty

  Compute compute = Compute::Auto;
  Gram gram = Gram::Exact;
  bool expandWeights = false;
  bool halfCache = true;
  bool logitsOfEveryToken = true;
  bool referenceWeights = false;
  bool randomWeights = false;
  int64_t context = 0;
  std::string plan;      ///< a file, or empty
  int64_t planBlock = 0; ///< tokens of its blocks; 0: as it says
  bool observe = false;  ///< an entry that shows what linear layers read

  Report report = Report::None;
  bool timing = false;
  ShowProgress progress = ShowProgress::Auto;

  /// True for a graph in MLIR, false for a model.
  bool isGraph() const {
    return std::filesystem::path(model).extension() == ".mlir";
  }
  /// True for a code object that somebody compiled before.
  bool isCodeObject() const {
    return std::filesystem::path(model).extension() == ".hsaco";
  }
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_OPTIONS_H
