//===- Options.h - What a user asks gist-compile for ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_OPTIONS_H
#define GIST_PASSES_DRIVER_OPTIONS_H

#include "passes/Import/CacheType.h"
#include "passes/Plan/File/DepthPlan.h"
#include "passes/Plan/File/LinearPlan.h"
#include "passes/Plan/File/Plan.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace gist::compile {

/// How far to go, in the order of the stages.
enum class Emit {
  Graph,    ///< the model on tensors, as imported
  Kernels,  ///< kernels on tensors and the list of calls
  Llvm,     ///< LLVM IR of the kernels
  Assembly, ///< assembly of the kernels
  Module,   ///< the file that gist-run takes
  Iree,     ///< text for IREE's compiler, and files of weights and code
};

/// Where the code of kernels in text for IREE comes from.
enum class IreeKernels {
  Plain,    ///< IREE's own: everything is linalg
  Embedded, ///< ours, from a file of code beside the text
};

/// The number format of products; those on GPUs are in kernels of 16 bits
/// unless one of 8 bits is asked for.
enum class Compute { Auto, F32, Int8, Int8Rows, Fp8 };

/// Whether it is one of 8 bits.
inline bool isSmall(Compute compute) {
  return compute == Compute::Int8 || compute == Compute::Int8Rows ||
         compute == Compute::Fp8;
}

/// What the command line calls it.
inline const char *getName(Compute compute) {
  static constexpr const char *kNames[] = {"auto", "f32", "int8", "int8-rows",
                                           "fp8"};
  return kNames[static_cast<size_t>(compute)];
}

/// The precision in which selections compare rows.
enum class Gram { Exact, Fp8 };

/// What to report about the code of GPU kernels.
enum class Report { None, Remarks, Resources, ResourcesJson };

/// Bar: nothing where a bar cannot be drawn, and no words at the end.
enum class ShowProgress { Auto, On, Bar, Off };

struct Options {
  std::string model;
  std::string output; ///< "-" is standard output

  // More than one makes a module with a program for each.
  std::vector<std::string> targets = {"cpu"};
  // Triple and features of the CPU target, as LLVM spells them; empty: those of
  // this machine.
  std::string triple, features;
  /// CPUs of that triple, each with code of its own: "x86-64-v4+avx512vnni".
  /// Empty: one CPU without a name.
  std::vector<std::string> cpus;

  Emit emit = Emit::Module;
  std::string dumpStages; ///< a folder, or empty
  /// A file of such a folder, which takes the place of what its stage makes; or
  /// empty.
  std::string editedStage;

  Compute compute = Compute::Auto;
  Gram gram = Gram::Exact;
  // f32 instead of blocks: larger modules, for comparisons.
  bool expandWeights = false;
  CacheType cacheType = CacheType::F16;
  // Adds the entry `score`, which perplexities need.
  bool logitsOfEveryToken = true;
  std::string weights = "embed"; ///< as the user says; read into the others
  // A module in which weights stay that it has too, or empty.
  std::string weightsOf;
  // Weights that need no packing stay in the files of the model.
  bool referenceWeights = false;
  // Only config.json is read, so that a model can be measured without its
  // weights.
  bool randomWeights = false;
  // Tokens that the cache holds; 0: as the model says.
  int64_t context = 0;
  std::string adapter;    ///< a folder of LoRA to merge, or empty
  float adapterScale = 1; ///< how much of it
  /// Names and folders of those that are chosen when the module runs.
  std::vector<std::pair<std::string, std::string>> chosenAdapters;
  std::string plan;      ///< a file, or empty
  int64_t planBlock = 0; ///< tokens of its blocks; 0: as it says
  // Follow the plan also where the model is faster without it.
  bool followPlan = false;
  int64_t ranks = 1;     ///< that share the model
  bool rankSums = false; ///< add parts of products; last bits differ
  int64_t stages = 1;    ///< that have some of the layers each

  /// Processes that run the module together.
  int64_t countParts() const { return ranks * stages; }
  bool observe = false; ///< an entry that shows what linear layers read

  // Of Emit::Iree.
  IreeKernels ireeKernels = IreeKernels::Plain;
  bool viaIree = false;    ///< IREE's compiler makes a .vmfb of it
  std::string ireeCompile; ///< that compiler; empty: found in PATH

  Report report = Report::None;
  bool timing = false;
  ShowProgress progress = ShowProgress::Auto;

  /// Machines to compile for; a CPU target counts once for each of `cpus`.
  size_t countTargets() const {
    bool hasCpu =
        std::find(targets.begin(), targets.end(), "cpu") != targets.end();
    return targets.size() + (hasCpu && !cpus.empty() ? cpus.size() - 1 : 0);
  }
  /// What is tried in the module, which is not for one plan: `plan` is then one
  /// of these names, or several that '+' joins.
  bool triesHeads() const { return tries(kCalibrationPlan); }
  bool triesDepths() const { return tries(kDepthsPlan); }
  bool triesBits() const { return tries(kBitsPlan); }
  bool isTrial() const { return triesHeads() || triesDepths() || triesBits(); }
  /// True for a graph in MLIR, false for a model.
  bool isGraph() const {
    return std::filesystem::path(model).extension() == ".mlir";
  }
  /// True for a code object from an earlier compilation.
  bool isCodeObject() const {
    return std::filesystem::path(model).extension() == ".hsaco";
  }

private:
  /// False where a part of `plan` is another name: it is then a file.
  bool tries(std::string_view what) const {
    bool isFound = false;
    for (auto part : std::views::split(plan, '+')) {
      std::string_view name(part.begin(), part.end());
      if (name != kCalibrationPlan && name != kDepthsPlan && name != kBitsPlan)
        return false;
      isFound |= name == what;
    }
    return isFound;
  }
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_OPTIONS_H
