//===- VerifySpec.cpp - Checks a module's metadata once -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The writer runs this on what the compiler built, the reader on what a file
// claims. Whatever passes may be used without further checks, except for values
// that depend on symbols: those are checked when a call binds them.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Format.h"
#include "runtime/module/RandomWeights.h"
#include "runtime/module/RankSpec.h"
#include "runtime/support/Checked.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <set>
#include <string_view>

using namespace gist;

namespace {

/// Every name of a table must be there and differ from the others.
class UniqueNames {
public:
  explicit UniqueNames(const char *what) : what(what) {}

  Status add(const std::string &name) {
    if (name.empty())
      return Status::error(Code::BadFile, "a %s has no name", what);
    if (!seen.insert(name).second)
      return Status::error(Code::BadFile, "two %ss are named '%s'", what,
                           name.c_str());
    return {};
  }

private:
  const char *what;
  /// The names belong to the spec, which outlives this.
  std::set<std::string_view> seen;
};

/// In the order of the tables, so that each one refers to what was checked
/// before it: expressions to symbols, buffers to weights and expressions,
/// entries to all of them.
class Verifier {
public:
  explicit Verifier(const ModuleSpec &spec) : spec(spec) {}

  Status run() const {
    GIST_TRY(model());
    GIST_TRY(symbols());
    for (size_t i = 0; i < spec.exprs.size(); ++i)
      GIST_TRY(verifyExpr(spec.exprs[i], spec.symbols.size())
                   .in("expression " + std::to_string(i)));
    UniqueNames weightNames("weight");
    for (const WeightSpec &weight : spec.weights) {
      GIST_TRY(weightNames.add(weight.name));
      for (int64_t dim : weight.shape)
        if (dim < 0)
          return Status::error(Code::BadFile,
                               "weight '%s' has a dimension of %" PRId64,
                               weight.name.c_str(), dim);
      if (weight.random)
        GIST_TRY(random(weight).in("weight '" + weight.name + "'"));
    }
    UniqueNames bufferNames("buffer");
    for (size_t i = 0; i < spec.buffers.size(); ++i) {
      GIST_TRY(bufferNames.add(spec.buffers[i].name));
      GIST_TRY(
          buffer(spec.buffers[i]).in("buffer '" + spec.buffers[i].name + "'"));
    }
    GIST_TRY(targets());
    UniqueNames kernelNames("kernel");
    for (const KernelSpec &kernelSpec : spec.kernels) {
      GIST_TRY(kernelNames.add(kernelSpec.name));
      GIST_TRY(kernel(kernelSpec).in("kernel '" + kernelSpec.name + "'"));
    }
    std::set<std::pair<std::string_view, uint32_t>> entryNames;
    for (const EntrySpec &entrySpec : spec.entries) {
      // One name may have an entry for each target.
      if (!entryNames.emplace(entrySpec.name, entrySpec.target).second)
        return Status::error(Code::BadFile,
                             "two entries are named '%s' for one target",
                             entrySpec.name.c_str());
      GIST_TRY(entry(entrySpec).in("entry '" + entrySpec.name + "'"));
    }
    return {};
  }

private:
  /// All references between tables pass here.
  static Status index(const char *what, uint32_t value, size_t count) {
    if (value < count)
      return {};
    return Status::error(Code::BadFile,
                         "%s %" PRIu32 " does not exist; there are %zu", what,
                         value, count);
  }

  /// Such a weight has no bytes in a file that could contradict its size.
  static Status random(const WeightSpec &weight) {
    uint64_t count = 1, width = randomWidth(weight.format);
    if (width == 0)
      return Status::error(Code::BadFile,
                           "random numbers cannot be stored as '%s'",
                           weight.format.c_str());
    if (!std::isfinite(weight.random->mean) ||
        !std::isfinite(weight.random->spread) || weight.random->spread < 0)
      return Status::error(Code::BadFile,
                           "the mean or the spread of random numbers is not "
                           "finite, or the spread is negative");
    // The product could wrap to the right size.
    for (int64_t dim : weight.shape)
      if (mulOverflows(count, static_cast<uint64_t>(dim), count))
        return Status::error(Code::BadFile, "has too many numbers");
    if (!weight.file.empty() || weight.size / width != count ||
        weight.size % width != 0)
      return Status::error(Code::BadFile,
                           "%" PRIu64 " random numbers do not take %" PRIu64
                           " bytes",
                           count, weight.size);
    return {};
  }

  Status expr(const char *what, ExprId id) const {
    if (id == kNone)
      return Status::error(Code::BadFile, "%s is missing", what);
    return index(what, id, spec.exprs.size());
  }

  /// The same where kNone has a meaning of its own.
  Status optionalExpr(const char *what, ExprId id) const {
    return id == kNone ? Status() : expr(what, id);
  }

  Status model() const {
    const ModelInfo &info = spec.model;
    // Token ids are i32 and lengths are counted in them: keep sums harmless.
    constexpr int64_t kLimit = INT32_MAX;
    for (int64_t value :
         {info.vocabSize, info.contextLength, info.embeddingSize,
          info.layerCount, info.prefillChunk})
      if (value < 0 || value > kLimit)
        return Status::error(
            Code::BadFile,
            "the model's description has a negative size: %" PRId64, value);
    auto isToken = [&](int64_t id) { return id >= 0 && id < info.vocabSize; };
    for (int64_t id : {info.bosToken, info.padToken, info.unkToken})
      if (id != -1 && !isToken(id))
        return Status::error(Code::BadFile,
                             "special token %" PRId64
                             " is outside a vocabulary of %" PRId64,
                             id, info.vocabSize);
    for (int64_t id : info.stopTokens)
      if (!isToken(id))
        return Status::error(Code::BadFile,
                             "stop token %" PRId64
                             " is outside a vocabulary of %" PRId64,
                             id, info.vocabSize);
    return {};
  }

  /// Bounds on symbols bound all sizes: a session allocates for the largest
  /// values.
  Status symbols() const {
    if (spec.symbols.size() > kMaxSymbols)
      return Status::error(
          Code::BadFile, "the module has %zu symbols; at most %zu are allowed",
          spec.symbols.size(), kMaxSymbols);
    UniqueNames names("symbol");
    for (const SymbolSpec &symbol : spec.symbols) {
      GIST_TRY(names.add(symbol.name));
      // Symbols are counts. The compiler's memory plan relies on that
      // (passes/Kernel/Sizes.h).
      if (symbol.min < 0 || symbol.min > symbol.max ||
          symbol.initial < symbol.min || symbol.initial > symbol.max)
        return Status::error(
            Code::BadFile,
            "symbol '%s' starts at %" PRId64
            ", which is outside its bounds %" PRId64 " and %" PRId64,
            symbol.name.c_str(), symbol.initial, symbol.min, symbol.max);
    }
    return {};
  }

  Status buffer(const BufferSpec &buffer) const {
    if (static_cast<uint8_t>(buffer.kind) > kLastBufferKind)
      return Status::error(Code::BadFile, "unknown kind %d",
                           static_cast<int>(buffer.kind));
    if (static_cast<uint8_t>(buffer.type) > kLastElementType)
      return Status::error(Code::BadFile, "unknown element type %d",
                           static_cast<int>(buffer.type));
    for (ExprId dim : buffer.shape)
      GIST_TRY(expr("dimension", dim));
    switch (buffer.kind) {
    // The size of a weight is in its own table. Arena buffers have an offset,
    // which the compiler planned.
    case BufferKind::Weight:
      return index("weight", buffer.base, spec.weights.size());
    case BufferKind::Arena:
      GIST_TRY(expr("offset", buffer.offset));
      break;
    default:
      break;
    }
    // Everything else is allocated by the runtime, by this size.
    return expr("size", buffer.size);
  }

  Status targets() const {
    // Each has a section of its own. Every command looks for its code for all
    // of them.
    if (spec.targets.size() > kMaxSections)
      return Status::error(Code::BadFile,
                           "the module has %zu targets; at most %" PRIu32
                           " are allowed",
                           spec.targets.size(), kMaxSections);
    UniqueNames names("target");
    for (const TargetSpec &target : spec.targets) {
      GIST_TRY(names.add(target.name));
      if (static_cast<uint8_t>(target.format) > kLastCodeFormat)
        return Status::error(
            Code::BadFile, "target '%s' has code of unknown format %d",
            target.name.c_str(), static_cast<int>(target.format));
    }
    return {};
  }

  Status kernel(const KernelSpec &kernel) const {
    std::set<uint32_t> seen;
    for (const KernelCode &code : kernel.code) {
      GIST_TRY(index("target", code.target, spec.targets.size()));
      if (!seen.insert(code.target).second)
        return Status::error(Code::BadFile, "has code twice for target '%s'",
                             spec.targets[code.target].name.c_str());
      if (code.symbol.empty())
        return Status::error(Code::BadFile, "has no symbol for target '%s'",
                             spec.targets[code.target].name.c_str());
      for (uint32_t size : code.workgroup)
        // 1024 is what the GPUs' drivers allow in one direction.
        if (size == 0 || size > 1024)
          return Status::error(Code::BadFile,
                               "has a workgroup of %" PRIu32
                               " threads in one direction; expected 1 to 1024",
                               size);
    }
    return {};
  }

  Status entry(const EntrySpec &entry) const {
    if (entry.name.empty())
      return Status::error(Code::BadFile, "has no name");
    if (entry.target != kNone)
      GIST_TRY(index("target", entry.target, spec.targets.size()));
    if (entry.maxTokens < 0)
      return Status::error(Code::BadFile,
                           "has a negative limit of tokens: %" PRId64,
                           entry.maxTokens);
    GIST_TRY(optionalExpr("arena size", entry.arenaSize));
    GIST_TRY(endpoints(entry.inputs, BufferKind::Input, "input"));
    GIST_TRY(endpoints(entry.outputs, BufferKind::Output, "output"));
    for (size_t i = 0; i < entry.commands.size(); ++i)
      GIST_TRY(command(entry, i).in("command " + std::to_string(i)));
    for (const StatisticSpec &statistic : entry.statistics) {
      GIST_TRY(
          index("statistic's buffer", statistic.buffer, spec.buffers.size()));
      ElementType type = spec.buffers[statistic.buffer].type;
      // The types that Session::statistics can read.
      if (type != ElementType::I32 && type != ElementType::I64 &&
          type != ElementType::F32)
        return Status::error(
            Code::BadFile,
            "statistic '%s' has type %s; expected i32, i64 or f32",
            statistic.name.c_str(), toString(type));
    }
    for (size_t i = 0; i < entry.observations.size(); ++i)
      GIST_TRY(observation(entry, entry.observations[i])
                   .in("observation " + std::to_string(i)));
    return {};
  }

  Status observation(const EntrySpec &entry,
                     const ObservationSpec &shown) const {
    if (static_cast<uint8_t>(shown.kind) > kLastObservationKind)
      return Status::error(Code::BadFile, "unknown kind %d",
                           static_cast<int>(shown.kind));
    if (shown.layer < -1)
      return Status::error(
          Code::BadFile,
          "layer %" PRId32 " does not exist; expected -1 or more", shown.layer);
    bool isLinear = shown.kind == ObservationKind::Input ||
                    shown.kind == ObservationKind::Product;
    if (isLinear == shown.group.empty() || isLinear == shown.weights.empty())
      return Status::error(Code::BadFile,
                           "expected a group and weights for a linear layer, "
                           "and neither for anything else");
    return index("output", shown.output, entry.outputs.size());
  }

  Status endpoints(const std::vector<uint32_t> &buffers, BufferKind kind,
                   const char *what) const {
    for (uint32_t buffer : buffers) {
      GIST_TRY(index(what, buffer, spec.buffers.size()));
      if (spec.buffers[buffer].kind != kind)
        return Status::error(Code::BadFile, "buffer '%s' is not an %s",
                             spec.buffers[buffer].name.c_str(), what);
    }
    return {};
  }

  Status command(const EntrySpec &entry, size_t number) const {
    const CommandSpec &command = entry.commands[number];
    GIST_TRY(index("kernel", command.kernel, spec.kernels.size()));
    const KernelSpec &kernel = spec.kernels[command.kernel];
    if (command.args.size() != kernel.argCount)
      return Status::error(
          Code::BadFile, "has %zu arguments, but kernel '%s' takes %" PRIu32,
          command.args.size(), kernel.name.c_str(), kernel.argCount);
    for (ExprId size : command.grid)
      GIST_TRY(optionalExpr("grid", size));
    for (const ArgSpec &arg : command.args) {
      if (arg.buffer == kNone) {
        GIST_TRY(expr("scalar argument", arg.value));
        continue;
      }
      GIST_TRY(index("argument's buffer", arg.buffer, spec.buffers.size()));
      GIST_TRY(optionalExpr("argument's offset", arg.value));
      // The offset in the arena depends on symbols, so locate() checks it.
      if (spec.buffers[arg.buffer].kind == BufferKind::Arena &&
          entry.arenaSize == kNone)
        return Status::error(Code::BadFile,
                             "uses the arena, but the entry has none");
    }
    for (uint32_t before : command.after)
      // Only commands before this one, so that there are no cycles.
      GIST_TRY(index("earlier command", before, number));
    GIST_TRY(optionalExpr("flops", command.flops));
    GIST_TRY(optionalExpr("bytes", command.bytes));
    return hasCode(entry, kernel);
  }

  /// The kernel must exist for every target that the entry serves.
  Status hasCode(const EntrySpec &entry, const KernelSpec &kernel) const {
    // What ranks do together has no code; verifyRanks looks at it.
    if (kernel.code.empty() &&
        std::find(spec.requirements.begin(), spec.requirements.end(),
                  kRanksRequirement) != spec.requirements.end())
      return {};
    auto covers = [&](uint32_t target) {
      for (const KernelCode &code : kernel.code)
        if (code.target == target)
          return true;
      return false;
    };
    for (uint32_t i = 0; i < spec.targets.size(); ++i)
      if ((entry.target == kNone || entry.target == i) && !covers(i))
        return Status::error(Code::BadFile,
                             "kernel '%s' has no code for target '%s'",
                             kernel.name.c_str(), spec.targets[i].name.c_str());
    return {};
  }

  const ModuleSpec &spec;
};

} // namespace

Status gist::verifySpec(const ModuleSpec &spec) { return Verifier(spec).run(); }
