//===- PlannedModule.cpp - The plan inside a module -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlannedModule.h"
#include "passes/Plan/File/Plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace gist;

uint64_t PlannedModule::denseBytes() const {
  return static_cast<uint64_t>(shape.heads() * context *
                               (shape.keySize + shape.valueSize)) *
         elementBytes;
}

bool PlannedModule::isChosen(size_t head) const {
  return !isOwnWindow(readPlace(table, head));
}

int64_t PlannedModule::countChosen() const {
  int64_t count = 0;
  for (int64_t head = 0; head < shape.heads(); ++head)
    count += isChosen(static_cast<size_t>(head));
  return count;
}

static const WeightSpec *findTable(const ModuleSpec &spec) {
  for (const WeightSpec &weight : spec.weights)
    if (weight.name == kPlanHeadsWeight)
      return &weight;
  return nullptr;
}

bool gist::isPlanned(const Module &module) {
  return findTable(module.spec()) != nullptr;
}

/// Columns of the state `name`, and the bytes of each.
static Status readRows(const ModuleSpec &spec, const char *name,
                       int64_t &columns, uint64_t &bytes) {
  for (const BufferSpec &buffer : spec.buffers) {
    if (buffer.kind != BufferKind::State || buffer.name != name ||
        buffer.shape.size() != 2)
      continue;
    bytes = elementSize(buffer.type);
    // The width of a row does not depend on symbols, so any values do.
    std::vector<int64_t> none(spec.symbols.size());
    return evaluateExpr(spec.exprs[buffer.shape[1]], none, columns);
  }
  return Status::error(Code::BadFile, "the module's plan has no state '%s'",
                       name);
}

Status gist::readPlannedModule(const Module &module, PlannedModule &result) {
  const ModuleSpec &spec = module.spec();
  const WeightSpec *weight = findTable(spec);
  if (!weight)
    return Status::error(Code::BadArgument,
                         "the module has no plan: compile the model with "
                         "gist-compile --plan=calibration");
  PlannedModule found;
  Bytes bytes =
      module.weight(static_cast<uint32_t>(weight - spec.weights.data()));
  if (weight->shape.size() != 3 || weight->shape[2] != kNumHeadFields ||
      bytes.size % sizeof(float) != 0)
    return Status::error(Code::BadFile, "'%s' is not a table of heads",
                         kPlanHeadsWeight);
  found.table.resize(bytes.size / sizeof(float));
  std::memcpy(found.table.data(), bytes.data, bytes.size);
  found.shape.layers = weight->shape[0];
  found.shape.kvHeads = weight->shape[1];
  // Shapes come from a file, so heads() is used only after these checks.
  if (found.shape.layers < 1 || found.shape.kvHeads < 1 ||
      found.table.size() !=
          static_cast<uint64_t>(found.shape.heads()) * kNumHeadFields)
    return Status::error(Code::BadFile,
                         "the size of '%s' does not match its shape",
                         kPlanHeadsWeight);
  GIST_TRY(readRows(spec, "k_rows", found.shape.keySize, found.elementBytes));
  GIST_TRY(readRows(spec, "v_rows", found.shape.valueSize, found.elementBytes));
  auto heads = spec.model.properties.find("query_heads");
  if (heads != spec.model.properties.end())
    found.shape.queryHeads = std::strtoll(heads->second.c_str(), nullptr, 10);
  if (found.shape.queryHeads < found.shape.kvHeads)
    return Status::error(
        Code::BadFile,
        "the module does not record how many heads queries have");
  // The compiler limits calls to the plan's block, so that a call never crosses
  // a block boundary.
  found.block = spec.model.prefillChunk;
  uint32_t capacity = module.findSymbol(kSymbolCapacity);
  if (found.block < 1 || capacity == kNone)
    return Status::error(Code::BadFile,
                         "the module has a plan but no cache for it");
  found.context = spec.symbols[capacity].initial;
  result = std::move(found);
  return {};
}
