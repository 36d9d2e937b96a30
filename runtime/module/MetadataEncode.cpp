//===- MetadataEncode.cpp - ModuleSpec to its FlatBuffer ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every part is built by a statement of its own: the order in which a call's
// arguments are evaluated is the C++ compiler's choice, and with it the bytes
// would be.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Format_generated.h"
#include "runtime/module/Metadata.h"

using namespace gist;

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

/// Encodes every element with `encodeOne` and makes a vector of the results.
template <typename Table, typename Element>
static auto
encodeAll(FlatBufferBuilder &builder, const std::vector<Element> &elements,
          Offset<Table> (*encodeOne)(FlatBufferBuilder &, const Element &)) {
  std::vector<Offset<Table>> offsets;
  offsets.reserve(elements.size());
  for (const Element &element : elements)
    offsets.push_back(encodeOne(builder, element));
  return builder.CreateVector(offsets);
}

static Offset<fb::Expr> encodeExpr(FlatBufferBuilder &builder,
                                   const Expr &expr) {
  std::vector<fb::ExprStep> steps;
  steps.reserve(expr.steps.size());
  for (const ExprStep &step : expr.steps)
    steps.emplace_back(step.value, static_cast<uint8_t>(step.op));
  // Structs lie in the vector themselves, so steps cost 16 bytes and no offset.
  return fb::CreateExpr(builder, builder.CreateVectorOfStructs(steps));
}

static Offset<fb::Model> encodeModel(FlatBufferBuilder &builder,
                                     const ModelInfo &model) {
  std::vector<Offset<fb::Property>> pairs;
  for (const auto &[keyText, valueText] : model.properties) {
    auto key = builder.CreateString(keyText);
    auto value = builder.CreateString(valueText);
    pairs.push_back(fb::CreateProperty(builder, key, value));
  }
  auto properties = builder.CreateVector(pairs);
  auto architecture = builder.CreateString(model.architecture);
  auto name = builder.CreateString(model.name);
  auto stopTokens = builder.CreateVector(model.stopTokens);
  return fb::CreateModel(
      builder, architecture, name, model.vocabSize, model.contextLength,
      model.embeddingSize, model.layerCount, model.prefillChunk, model.bosToken,
      model.padToken, model.unkToken, stopTokens, properties);
}

static Offset<fb::Symbol> encodeSymbol(FlatBufferBuilder &builder,
                                       const SymbolSpec &symbol) {
  auto name = builder.CreateString(symbol.name);
  return fb::CreateSymbol(builder, name, symbol.min, symbol.max,
                          symbol.initial);
}

static Offset<fb::Weight> encodeWeight(FlatBufferBuilder &builder,
                                       const WeightSpec &weight) {
  auto name = builder.CreateString(weight.name);
  auto format = builder.CreateString(weight.format);
  auto shape = builder.CreateVector(weight.shape);
  auto file = builder.CreateString(weight.file);
  // A weight without random numbers has a spread of 0; verifySpec refuses
  // a negative one.
  return fb::CreateWeight(builder, name, format, shape, weight.offset,
                          weight.size, weight.hash, file,
                          weight.random ? weight.random->mean : 0,
                          weight.random ? weight.random->spread : 0);
}

static Offset<fb::Buffer> encodeBuffer(FlatBufferBuilder &builder,
                                       const BufferSpec &buffer) {
  auto name = builder.CreateString(buffer.name);
  auto shape = builder.CreateVector(buffer.shape);
  return fb::CreateBuffer(builder, name, static_cast<uint8_t>(buffer.kind),
                          static_cast<uint8_t>(buffer.type), shape, buffer.size,
                          buffer.offset, buffer.base, buffer.zeroOnReset);
}

static Offset<fb::Target> encodeTarget(FlatBufferBuilder &builder,
                                       const TargetSpec &target) {
  auto name = builder.CreateString(target.name);
  auto device = builder.CreateString(target.device);
  auto triple = builder.CreateString(target.triple);
  auto cpu = builder.CreateString(target.cpu);
  auto features = builder.CreateVectorOfStrings(target.features);
  return fb::CreateTarget(builder, name, device, triple, cpu, features,
                          static_cast<uint8_t>(target.format));
}

static Offset<fb::KernelCode> encodeKernelCode(FlatBufferBuilder &builder,
                                               const KernelCode &code) {
  auto symbol = builder.CreateString(code.symbol);
  auto workgroup =
      builder.CreateVector(code.workgroup.data(), code.workgroup.size());
  Offset<flatbuffers::String> byTable;
  if (!code.byTable.empty())
    byTable = builder.CreateString(code.byTable);
  return fb::CreateKernelCode(builder, code.target, symbol, workgroup,
                              code.sharedMemory, code.waits, byTable);
}

static Offset<fb::Kernel> encodeKernel(FlatBufferBuilder &builder,
                                       const KernelSpec &kernel) {
  auto name = builder.CreateString(kernel.name);
  auto code = encodeAll(builder, kernel.code, encodeKernelCode);
  return fb::CreateKernel(builder, name, kernel.argCount, code);
}

static Offset<fb::Command> encodeCommand(FlatBufferBuilder &builder,
                                         const CommandSpec &command) {
  std::vector<fb::Arg> argList;
  argList.reserve(command.args.size());
  for (const ArgSpec &arg : command.args)
    argList.emplace_back(arg.buffer, arg.value);
  auto grid = builder.CreateVector(command.grid.data(), command.grid.size());
  auto args = builder.CreateVectorOfStructs(argList);
  auto after = builder.CreateVector(command.after);
  auto label = builder.CreateString(command.label);
  return fb::CreateCommand(builder, command.kernel, grid, args, after,
                           command.hasAfter, command.layer, label,
                           command.flops, command.bytes, command.byRows);
}

static Offset<fb::Statistic> encodeStatistic(FlatBufferBuilder &builder,
                                             const StatisticSpec &statistic) {
  auto name = builder.CreateString(statistic.name);
  return fb::CreateStatistic(builder, name, statistic.layer, statistic.buffer);
}

static Offset<fb::Observation> encodeObservation(FlatBufferBuilder &builder,
                                                 const ObservationSpec &shown) {
  auto group = builder.CreateString(shown.group);
  auto weights = builder.CreateVectorOfStrings(shown.weights);
  return fb::CreateObservation(builder, static_cast<uint8_t>(shown.kind),
                               shown.layer, group, weights, shown.output);
}

static Offset<fb::Entry> encodeEntry(FlatBufferBuilder &builder,
                                     const EntrySpec &entry) {
  auto name = builder.CreateString(entry.name);
  auto inputs = builder.CreateVector(entry.inputs);
  auto outputs = builder.CreateVector(entry.outputs);
  auto commands = encodeAll(builder, entry.commands, encodeCommand);
  auto statistics = encodeAll(builder, entry.statistics, encodeStatistic);
  // Few entries show anything; the others keep the bytes they had before there
  // was this table.
  // An offset that is null leaves the field out of the table.
  Offset<flatbuffers::Vector<Offset<fb::Observation>>> observations;
  if (!entry.observations.empty())
    observations = encodeAll(builder, entry.observations, encodeObservation);
  return fb::CreateEntry(builder, name, entry.target, entry.maxTokens,
                         entry.arenaSize, inputs, outputs, commands, statistics,
                         observations);
}

static Offset<fb::Collective> encodeCollective(FlatBufferBuilder &builder,
                                               const CollectiveSpec &one) {
  auto columns = builder.CreateVector(one.columns);
  return fb::CreateCollective(builder, one.kernel,
                              static_cast<uint8_t>(one.kind), columns, one.from,
                              one.to);
}

/// Equal specs give equal bytes.
std::string gist::encodeMetadata(const ModuleSpec &spec,
                                 const RankSpec &ranks) {
  FlatBufferBuilder builder;
  auto model = encodeModel(builder, spec.model);
  auto producer = builder.CreateString(spec.producer);
  auto requirements = builder.CreateVectorOfStrings(spec.requirements);
  auto symbols = encodeAll(builder, spec.symbols, encodeSymbol);
  auto exprs = encodeAll(builder, spec.exprs, encodeExpr);
  auto weights = encodeAll(builder, spec.weights, encodeWeight);
  auto buffers = encodeAll(builder, spec.buffers, encodeBuffer);
  auto targets = encodeAll(builder, spec.targets, encodeTarget);
  auto kernels = encodeAll(builder, spec.kernels, encodeKernel);
  auto entries = encodeAll(builder, spec.entries, encodeEntry);
  // A module for one rank keeps the bytes it had before there were several.
  Offset<fb::Ranks> shared;
  if (ranks.count > 1) {
    auto ranked = builder.CreateVector(ranks.targets);
    auto together = encodeAll(builder, ranks.collectives, encodeCollective);
    shared = fb::CreateRanks(builder, ranks.count, ranked, together);
  }
  builder.Finish(fb::CreateMetadata(builder, model, producer, requirements,
                                    symbols, exprs, weights, buffers, targets,
                                    kernels, entries, shared));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()),
          builder.GetSize()};
}
