//===- Disassembly.cpp - A module as text ---------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Disassembly.h"

#include <cinttypes>
#include <cstdio>

using namespace gist;
using namespace gist::run;

std::string run::hashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016" PRIx64, hash);
  return text;
}

/// Text from a file, in quotes: what a terminal would act on is escaped.
static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      char escape[5];
      std::snprintf(escape, sizeof(escape), "\\x%02x", byte);
      out += escape;
    } else {
      if (c == '"' || c == '\\')
        out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

/// Names appear bare, so what would break a line is replaced.
static std::string plain(std::string name) {
  for (char &c : name)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      c = '_';
  return name;
}

void run::printHeader(const Module &module) {
  const ModelInfo &model = module.spec().model;
  std::printf("module %s architecture %s format %d.%d bytes %" PRIu64
              " producer %s\n",
              quoted(model.name).c_str(), plain(model.architecture).c_str(),
              module.header().major, module.header().minor,
              module.header().fileSize, quoted(module.spec().producer).c_str());
  std::printf("model: vocabulary %" PRId64 ", context %" PRId64
              ", embedding %" PRId64 ", layers %" PRId64 "\n",
              model.vocabSize, model.contextLength, model.embeddingSize,
              model.layerCount);
  std::printf("  tokens:");
  if (model.bosToken >= 0)
    std::printf(" bos %" PRId64, model.bosToken);
  if (model.padToken >= 0)
    std::printf(" pad %" PRId64, model.padToken);
  if (model.unkToken >= 0)
    std::printf(" unk %" PRId64, model.unkToken);
  std::printf(" stop [");
  for (size_t i = 0; i < model.stopTokens.size(); ++i)
    std::printf("%s%" PRId64, i ? ", " : "", model.stopTokens[i]);
  std::printf("]\n");
  if (model.prefillChunk != 0)
    std::printf("  prefill chunk: %" PRId64 "\n", model.prefillChunk);
  for (const auto &[key, value] : model.properties)
    std::printf("  property %s = %s\n", plain(key).c_str(),
                quoted(value).c_str());
}

void run::printTargets(const Module &module) {
  std::printf("targets:\n");
  const std::vector<TargetSpec> &targets = module.spec().targets;
  for (uint32_t i = 0; i < targets.size(); ++i) {
    const TargetSpec &target = targets[i];
    std::printf("  @%s device %s triple %s cpu %s requires [",
                plain(target.name).c_str(), plain(target.device).c_str(),
                plain(target.triple).c_str(), plain(target.cpu).c_str());
    for (size_t j = 0; j < target.features.size(); ++j)
      std::printf("%s%s", j ? ", " : "", plain(target.features[j]).c_str());
    std::printf("] %s %" PRIu64 " bytes\n", toString(target.format),
                module.code(i).size);
  }
}

namespace {
/// The order is that of the file, and numbers are replaced by names.
/// Expressions are printed as formulas of the symbols.
class Disassembler {
public:
  explicit Disassembler(const Module &module)
      : module(module), spec(module.spec()) {
    for (const SymbolSpec &symbol : spec.symbols)
      symbols.push_back(plain(symbol.name));
  }

  void run() const {
    printHeader(module);
    std::printf("symbols:\n");
    for (const SymbolSpec &symbol : spec.symbols)
      std::printf("  %s = %" PRId64 " in [%" PRId64 ", %" PRId64 "]\n",
                  plain(symbol.name).c_str(), symbol.initial, symbol.min,
                  symbol.max);
    printTargets(module);
    std::printf("weights:\n");
    for (const WeightSpec &weight : spec.weights)
      print(weight);
    std::printf("buffers:\n");
    for (const BufferSpec &buffer : spec.buffers)
      print(buffer);
    std::printf("kernels:\n");
    for (const KernelSpec &kernel : spec.kernels)
      print(kernel);
    for (const EntrySpec &entry : spec.entries)
      print(entry);
  }

private:
  std::string expr(ExprId id) const {
    return printExpr(spec.exprs[id], symbols);
  }
  /// Buffers are written %name, kernels and targets @name.
  std::string buffer(uint32_t number) const {
    return "%" + plain(spec.buffers[number].name);
  }

  void print(const WeightSpec &weight) const {
    std::printf("  %s %s [", quoted(weight.name).c_str(),
                plain(weight.format).c_str());
    for (size_t i = 0; i < weight.shape.size(); ++i)
      std::printf("%s%" PRId64, i ? " x " : "", weight.shape[i]);
    std::printf("] offset %" PRIu64 " size %" PRIu64 " xxh64 %s", weight.offset,
                weight.size, hashText(weight.hash).c_str());
    if (!weight.file.empty())
      std::printf(" in %s", quoted(weight.file).c_str());
    std::printf("\n");
  }

  void print(const BufferSpec &own) const {
    std::printf("  %%%s = %s %s[", plain(own.name).c_str(), toString(own.kind),
                toString(own.type));
    for (size_t i = 0; i < own.shape.size(); ++i)
      std::printf("%s%s", i ? " x " : "", expr(own.shape[i]).c_str());
    std::printf("]");
    if (own.kind == BufferKind::Weight)
      std::printf(" of %s", quoted(spec.weights[own.base].name).c_str());
    if (own.offset != kNone)
      std::printf(" offset %s", expr(own.offset).c_str());
    if (own.size != kNone)
      std::printf(" size %s", expr(own.size).c_str());
    if (own.zeroOnReset)
      std::printf(" zero-on-reset");
    std::printf("\n");
  }

  void print(const KernelSpec &kernel) const {
    std::printf("  @%s(%" PRIu32 ")", plain(kernel.name).c_str(),
                kernel.argCount);
    for (const KernelCode &code : kernel.code) {
      std::printf(" @%s: %s workgroup [%" PRIu32 ", %" PRIu32 ", %" PRIu32
                  "] shared %" PRIu32,
                  plain(spec.targets[code.target].name).c_str(),
                  plain(code.symbol).c_str(), code.workgroup[0],
                  code.workgroup[1], code.workgroup[2], code.sharedMemory);
      if (!code.byTable.empty())
        std::printf(" by-table %s", plain(code.byTable).c_str());
    }
    std::printf("\n");
  }

  void printBuffers(const std::vector<uint32_t> &buffers) const {
    for (size_t i = 0; i < buffers.size(); ++i)
      std::printf("%s%s", i ? ", " : "", buffer(buffers[i]).c_str());
  }

  void print(const EntrySpec &entry) const {
    std::printf("entry @%s(", plain(entry.name).c_str());
    printBuffers(entry.inputs);
    std::printf(") -> (");
    printBuffers(entry.outputs);
    std::printf(")");
    if (entry.target != kNone)
      std::printf(" target @%s",
                  plain(spec.targets[entry.target].name).c_str());
    if (entry.maxTokens != 0)
      std::printf(" max-tokens %" PRId64, entry.maxTokens);
    if (entry.arenaSize != kNone)
      std::printf(" arena %s", expr(entry.arenaSize).c_str());
    std::printf(" {\n");
    for (size_t i = 0; i < entry.commands.size(); ++i)
      print(i, entry.commands[i]);
    for (const StatisticSpec &statistic : entry.statistics)
      std::printf("  statistic %s layer %" PRId32 " %s\n",
                  quoted(statistic.name).c_str(), statistic.layer,
                  buffer(statistic.buffer).c_str());
    for (const ObservationSpec &shown : entry.observations)
      print(entry, shown);
    std::printf("}\n");
  }

  void print(const EntrySpec &entry, const ObservationSpec &shown) const {
    std::printf("  shows %s layer %" PRId32, toString(shown.kind), shown.layer);
    if (!shown.group.empty())
      std::printf(" group %s", quoted(shown.group).c_str());
    for (size_t i = 0; i < shown.weights.size(); ++i)
      std::printf("%s%s", i ? ", " : " of ", quoted(shown.weights[i]).c_str());
    std::printf(" in %s\n", buffer(entry.outputs[shown.output]).c_str());
  }

  void print(size_t number, const CommandSpec &command) const {
    std::printf("  %4zu: @%s<", number,
                plain(spec.kernels[command.kernel].name).c_str());
    // A missing dimension is one workgroup.
    for (size_t i = 0; i < command.grid.size(); ++i)
      std::printf("%s%s", i ? ", " : "",
                  command.grid[i] == kNone ? "1"
                                           : expr(command.grid[i]).c_str());
    std::printf(">(");
    for (size_t i = 0; i < command.args.size(); ++i) {
      const ArgSpec &arg = command.args[i];
      std::printf("%s", i ? ", " : "");
      // A number, a buffer, or a buffer at an offset in bytes.
      if (arg.buffer == kNone)
        std::printf("%s", expr(arg.value).c_str());
      else if (arg.value == kNone)
        std::printf("%s", buffer(arg.buffer).c_str());
      else
        std::printf("%s[%s]", buffer(arg.buffer).c_str(),
                    expr(arg.value).c_str());
    }
    std::printf(")");
    // Without it a command waits for everything before it.
    if (command.hasAfter) {
      std::printf(" after [");
      for (size_t i = 0; i < command.after.size(); ++i)
        std::printf("%s%" PRIu32, i ? ", " : "", command.after[i]);
      std::printf("]");
    }
    if (command.byRows)
      std::printf(" by rows");
    if (command.layer >= 0)
      std::printf(" layer %" PRId32, command.layer);
    if (!command.label.empty())
      std::printf(" %s", quoted(command.label).c_str());
    if (command.flops != kNone)
      std::printf(" flops %s", expr(command.flops).c_str());
    if (command.bytes != kNone)
      std::printf(" bytes %s", expr(command.bytes).c_str());
    std::printf("\n");
  }

  const Module &module;
  const ModuleSpec &spec;
  std::vector<std::string> symbols;
};
} // namespace

void run::disassemble(const Module &module) { Disassembler(module).run(); }
