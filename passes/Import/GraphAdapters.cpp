//===- GraphAdapters.cpp - Adapters of GraphBuilder -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adapters are merged into a weight, or chosen by each token: then a layer
// gives W x + B (s * A x), where A and B have the factors of all adapters side
// by side, and s is 1 for those of the token's adapter and 0 for the others.
// Rows of a call may have different adapters.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/module/Properties.h"

#include <algorithm>
#include <cinttypes>

using namespace gist;
using namespace mlir;

/// The rank of all adapters is a multiple of it: whole vectors.
static constexpr int64_t kRankStep = 16;
static constexpr const char *kSharesName = "adapters.shares";

/// Ranks may differ from layer to layer; columns of an adapter are as many as
/// the largest.
static int64_t rankOf(const LoraAdapter &adapter) {
  int64_t most = 0;
  for (const auto &[layer, update] : adapter.updates)
    most = std::max(most, update.a.shape[0]);
  return most;
}

LoraAdapter::Update *GraphBuilder::updateOf(LoraAdapter &adapter,
                                            std::string_view module) {
  std::string name = folderName(module);
  auto found = adapter.updates.find(name);
  if (found == adapter.updates.end())
    found = adapter.updates.find(architecture.prefix + name);
  return found == adapter.updates.end() ? nullptr : &found->second;
}

/// Adapters have the order of folders; where pairs are neighbours in a GGUF
/// file alone, query and key rows were permuted for it.
int64_t GraphBuilder::alternatingHeads(std::string_view module) const {
  if (!source.isGguf || config.rotaryPairs != RotaryPairs::Neighbours)
    return 0;
  return module.ends_with(".q_proj")   ? config.numHeads
         : module.ends_with(".k_proj") ? config.numKvHeads
                                       : 0;
}

Status GraphBuilder::adapt(std::string_view module, Weight &matrix) {
  LoraAdapter::Update *update = updateOf(adapters.merged, module);
  if (!update)
    return {};
  update->isUsed = true;
  return mergeLora(*update, options.adapterScale, alternatingHeads(module),
                   matrix)
      .in(options.adapter + ": layer " + inQuotes(folderName(module)));
}

//===----------------------------------------------------------------------===//
// Chosen by tokens
//===----------------------------------------------------------------------===//

void GraphBuilder::splitTokens() {
  if (config.vocabSize > 1 << kAdapterShift)
    fail(Status::error(Code::Unsupported,
                       "a vocabulary of %" PRId64
                       " tokens leaves no room for the numbers of adapters",
                       config.vocabSize));
  auto type = cast<RankedTensorType>(tokens.getType());
  Value ids = tokens;
  auto number = [](ImplicitLocOpBuilder &inner, int32_t value) -> Value {
    return arith::ConstantOp::create(inner, inner.getI32IntegerAttr(value));
  };
  tokens = elementwise(
      type, {{ids, {0}}}, [&](ImplicitLocOpBuilder &inner, ValueRange values) {
        Value mask = number(inner, (1 << kAdapterShift) - 1);
        return Value(arith::AndIOp::create(inner, values[0], mask));
      });
  Value numbers = elementwise(
      type, {{ids, {0}}}, [&](ImplicitLocOpBuilder &inner, ValueRange values) {
        Value shift = number(inner, kAdapterShift);
        return Value(arith::ShRUIOp::create(inner, values[0], shift));
      });
  int64_t columns = 0;
  for (const LoraAdapter &adapter : adapters.chosen)
    columns += rankOf(adapter);
  chosenRank = (columns + kRankStep - 1) / kRankStep * kRankStep;
  auto rows = static_cast<int64_t>(adapters.chosen.size()) + 1;
  std::vector<float> shares(static_cast<size_t>(rows * chosenRank));
  auto at = shares.begin() + chosenRank; // Row 0: no adapter.
  for (const LoraAdapter &adapter : adapters.chosen) {
    std::fill_n(at, rankOf(adapter), 1.0f);
    at += chosenRank + rankOf(adapter);
  }
  b.setLoc(NameLoc::get(b.getStringAttr(kSharesName)));
  weights.entries.emplace(kSharesName, madeWeight({rows, chosenRank}, shares));
  chosenShares = gatherRows(emitWeight(kSharesName), numbers);
}

bool GraphBuilder::isAdapted(std::string_view module) const {
  return llvm::any_of(adapters.chosen, [&](const LoraAdapter &adapter) {
    return llvm::any_of(adapter.updates, [&](const auto &entry) {
      // In some layer, so that layers stay alike.
      return module.front() == '.'
                 ? llvm::StringRef(entry.first).ends_with(module)
                 : entry.first == module ||
                       entry.first == architecture.prefix + std::string(module);
    });
  });
}

Status GraphBuilder::loadFactors(std::string_view module, int64_t outputs,
                                 int64_t inputs, WeightFormat format) {
  std::string nameA = fullName(module, ".adapters_a");
  if (weights.entries.contains(nameA))
    return {};
  auto rank = static_cast<size_t>(chosenRank);
  std::vector<float> a(rank * static_cast<size_t>(inputs));
  std::vector<float> b(rank * static_cast<size_t>(outputs));
  size_t first = 0;
  for (size_t i = 0; i < adapters.chosen.size(); ++i) {
    LoraAdapter &adapter = adapters.chosen[i];
    if (LoraAdapter::Update *update = updateOf(adapter, module)) {
      std::string where =
          options.chosenAdapters[i] + ": layer " + inQuotes(folderName(module));
      update->isUsed = true;
      LoraFactors own;
      GIST_TRY(
          readFactors(*update, alternatingHeads(module), outputs, inputs, own)
              .in(where));
      auto count = static_cast<size_t>(update->a.shape[0]);
      std::copy(own.a.begin(), own.a.end(),
                a.begin() + static_cast<int64_t>(first) * inputs);
      for (size_t row = 0; row < static_cast<size_t>(outputs); ++row)
        std::copy_n(&own.b[row * count], count, &b[row * rank + first]);
    }
    first += static_cast<size_t>(rankOf(adapter));
  }
  bool isKept = format == WeightFormat::F32 || format == WeightFormat::BF16;
  WeightFormat kept = isKept ? format : WeightFormat::F16;
  Weight factorA, factorB;
  GIST_TRY(storeNumbers(kept, {chosenRank, inputs}, a, factorA).in(nameA));
  GIST_TRY(storeNumbers(kept, {outputs, chosenRank}, b, factorB).in(nameA));
  weights.entries.emplace(nameA, std::move(factorA));
  weights.entries.emplace(fullName(module, ".adapters_b"), std::move(factorB));
  return {};
}

Value GraphBuilder::addChosen(Value product, Value x, std::string_view module,
                              WeightFormat format) {
  auto type = cast<RankedTensorType>(x.getType());
  auto result = cast<RankedTensorType>(product.getType());
  int64_t tokens = type.getDimSize(0);
  if (Status status =
          loadFactors(module, result.getDimSize(1), type.getDimSize(1), format);
      !status.ok()) {
    fail(std::move(status));
    return product;
  }
  IntegerAttr layer;
  if (module.front() == '.')
    layer = b.getI64IntegerAttr(currentLayer);
  auto multiplied = [&](Value rows, const char *suffix, int64_t outputs) {
    std::string name = fullName(module, suffix);
    b.setLoc(NameLoc::get(b.getStringAttr(name)));
    Value init = zeros(tensorType({tokens, outputs}));
    return linalg::MatmulTransposeBOp::create(
               b, b.getLoc(), TypeRange(init.getType()),
               ValueRange{rows, emitWeight(name, layer)}, init)
        .getResult(0);
  };
  Value thin = multiplied(x, ".adapters_a", chosenRank);
  thin = multiply(thin, chosenShares);
  return add(product, multiplied(thin, ".adapters_b", result.getDimSize(1)));
}
