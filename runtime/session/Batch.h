//===- Batch.h - Tokens of several sequences in one call --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes one command list of an entry for pieces of several sequences and runs
// it. The rows of all pieces lie one after the other in the same buffers; a
// command of one sequence gets the addresses of its piece's rows, its state and
// its own numbers. All memory is reserved when the batch is made, for the
// largest step that the limits allow: a step cannot fail for lack of it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_BATCH_H
#define GIST_RUNTIME_SESSION_BATCH_H

#include "runtime/session/BatchPlan.h"
#include "runtime/session/Binding.h"

#include <span>
#include <vector>

namespace gist {

/// Tokens of one sequence that follow one another.
struct BatchPiece {
  int64_t tokens = 0;   ///< in this step
  int64_t before = 0;   ///< that the sequence has already
  int64_t capacity = 0; ///< that its state can hold
  /// Where the state of the sequence is, by buffer of the module.
  const std::vector<MemoryMap::Range> *state = nullptr;
};

/// Rows of a step, which number the tokens of its pieces.
struct RowRange {
  int64_t begin = 0, end = 0;
};

struct BatchLimits {
  int64_t pieces = 0; ///< in a step
  int64_t rows = 0;   ///< of all pieces
  /// Of the pieces with more than one token, together.
  int64_t rowsOfLong = 0;
  int64_t wanted = 0;   ///< rows of logits
  int64_t capacity = 0; ///< of a sequence
};

class Batch {
public:
  /// `weights` says where the weights are; module, device, code and map must
  /// outlive the batch.
  static Status create(const Module &module, const EntrySpec &entry,
                       Device &device, const DeviceCode &code,
                       const MemoryMap &weights, const BatchLimits &limits,
                       std::unique_ptr<Batch> &result);

  /// Runs a step. `tokens` are those of all pieces; `wanted` are rows in
  /// ascending order, apart from each other. Their logits are then
  /// logits(0), logits(1), …
  Status run(std::span<const BatchPiece> pieces,
             std::span<const int32_t> tokens, std::span<const RowRange> wanted);

  /// Valid until the next run.
  std::span<const float> logits(int64_t number) const;

  /// Bytes of scratch memory, inputs and outputs.
  uint64_t memory() const;

private:
  /// What the numbers and addresses of a launch depend on.
  struct Scope {
    explicit Scope(const ModuleSpec &spec) : symbols(spec) {}
    SymbolValues symbols;
    int64_t row = 0;       ///< the first
    int64_t logitsRow = 0; ///< the first, among those that are wanted
    DeviceAddress arena = 0;
    uint64_t arenaSize = 0;
    const std::vector<MemoryMap::Range> *state = nullptr;
  };
  /// A list that ran, and its recording from the second time on.
  struct Recorded {
    CommandList list;
    std::unique_ptr<Recording> recording;
  };

  Batch(Device &device, const MemoryMap &weights)
      : device(device), weights(weights) {}
  Status reserve(const BatchLimits &limits);
  Status arenaBytes(int64_t tokens, int64_t before, int64_t capacity,
                    uint64_t &bytes);
  Status setScope(size_t number, int64_t tokens, int64_t before,
                  int64_t capacity);
  Status setScopes(std::span<const BatchPiece> pieces,
                   std::span<const RowRange> wanted);
  void setOrder(size_t pieces, size_t ranges);
  Status addLaunch(size_t command, size_t scope);
  Status findAddress(const ArgSpec &arg, BatchPlan::Kind kind, Scope &scope,
                     uint64_t &address);
  Status uploadNumbers();
  Status submit();

  Device &device;
  const MemoryMap &weights;
  BatchPlan plan;
  /// Of all rows, of each piece, of each range of wanted rows; in this order.
  std::vector<Scope> scopes;
  size_t numPieces = 0, numRanges = 0;      ///< that `order` is for
  std::vector<std::vector<uint32_t>> order; ///< per launch: those before it
  std::vector<bool> waitsForEverything;     ///< per launch
  CommandList list;
  DeviceMemory arena, pieceArenas, tokenMemory, logitsMemory;
  /// Devices that take numbers by address read them here: a word for each
  /// expression that is a number of some command, for each scope.
  DeviceMemory numberMemory;
  std::vector<ExprId> numberExprs; ///< sorted
  std::vector<int64_t> numbers, uploadedNumbers;
  std::vector<Recorded> recordings; ///< the last used first
  std::vector<float> downloaded;
  const float *firstLogits = nullptr;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_BATCH_H
