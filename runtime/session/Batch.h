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
// its own numbers. Where its code can take them from a table, the sequences
// that have one token each share a launch. What only rows with wanted logits
// need runs at the end, for those rows: where others lie between them, they are
// first moved together, so that the weights of the head are read once. All
// memory is reserved when the batch is made, for the largest step that the
// limits allow: a step cannot fail for lack of it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_BATCH_H
#define GIST_RUNTIME_SESSION_BATCH_H

#include "runtime/session/BatchPlan.h"
#include "runtime/session/Binding.h"
#include "runtime/session/Profile.h"
#include "runtime/session/Sampler.h"

#include <map>
#include <span>
#include <vector>

namespace gist {

/// Tokens of one sequence that follow one another. Several pieces may be of one
/// sequence, in order: then its tokens are computed as if they came by
/// themselves, and share only what treats rows alike.
struct BatchPiece {
  /// The same in all steps of a sequence and of no other; 0: not known.
  uint64_t sequence = 0;
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

/// A token that is drawn on the device.
struct BatchDraw {
  int64_t number = 0; ///< of the logits, among those that are wanted
  SampleSettings settings;
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
  /// outlive the batch. Where `sampling` is not null, the entry may have a
  /// command that draws a token from logits.
  static Status create(const Module &module, const EntrySpec &entry,
                       const EntrySpec *sampling, uint32_t target,
                       Device &device, const DeviceCode &code,
                       const MemoryMap &weights, const BatchLimits &limits,
                       std::unique_ptr<Batch> &result);

  /// Runs a step. `tokens` are those of all pieces, each withAdapter();
  /// `wanted` are rows in ascending order, apart from each other. Their logits
  /// are then logits(0), logits(1), … With `draws`, which only a batch that can
  /// draw takes, there are drawn(0), drawn(1), … in their place: logits stay on
  /// the device. An entry that leaves state alone has no rows that can be
  /// wanted.
  Status run(std::span<const BatchPiece> pieces,
             std::span<const int32_t> tokens, std::span<const RowRange> wanted,
             std::span<const BatchDraw> draws = {});

  /// Valid until the next run.
  std::span<const float> logits(int64_t number) const;

  /// Whether tokens can be drawn where the logits are, so that these need not
  /// leave the device.
  bool canDraw() const { return sampleCommand != nullptr; }
  /// The token of a draw; negative where none could be chosen.
  int32_t drawn(size_t number) const { return drawnTokens[number]; }

  /// Notes when each launch of a step ran, but for draws; null: does not. A
  /// step then takes longer, because nothing is replayed.
  void setProfile(Profile *to) { profile = to; }

  /// Launches of all steps so far.
  uint64_t launches() const { return launchCount; }

  /// Bytes of scratch memory, inputs and outputs.
  uint64_t memory() const;

private:
  /// Where a piece's part of the arena may begin.
  static constexpr uint64_t kAlignment = 256;

  /// What the numbers and addresses of a launch depend on.
  struct Scope {
    explicit Scope(const ModuleSpec &spec) : symbols(spec) {}
    SymbolValues symbols;
    int64_t row = 0; ///< the first
    DeviceAddress arena = 0;
    uint64_t arenaSize = 0;
    const std::vector<MemoryMap::Range> *state = nullptr;
  };
  /// Which command of the entry a launch is of, and its scope; of a shared
  /// launch the first scope.
  struct Launch {
    size_t command, scope;
    bool isShared = false;
  };
  /// A list that ran, how often, and its recording once it came often enough.
  struct Recorded {
    CommandList list;
    unsigned times = 1;
    std::unique_ptr<Recording> recording = {};
  };

  Batch(Device &device, const MemoryMap &weights)
      : device(device), weights(weights) {}
  Status reserve(const BatchLimits &limits);
  Status findSampling(const EntrySpec &entry, int64_t draws);
  Status reserveTable(int64_t pieces);
  Status arenaBytes(int64_t tokens, int64_t before, int64_t capacity,
                    uint64_t &bytes);
  Status setScope(size_t number, int64_t tokens, int64_t before,
                  int64_t capacity);
  Status setScopes(std::span<const BatchPiece> pieces,
                   std::span<const RowRange> wanted);
  void setOrder(size_t pieces, size_t shared, bool isSplit, bool isChain);
  bool isRepeated(std::span<const BatchPiece> pieces,
                  std::span<const RowRange> wanted,
                  std::span<const BatchDraw> draws) const;
  Status makeLists(std::span<const BatchPiece> pieces,
                   std::span<const RowRange> wanted,
                   std::span<const BatchDraw> draws);
  Status bindNumbers(size_t numScopes);
  Status addLaunch(CommandList &to, size_t command, size_t scope, size_t place);
  Status addSharedLaunch(size_t command, size_t place);
  Status bindArguments(const CommandSpec &command, BatchPlan::Kind kind,
                       size_t scope, uint64_t *to);
  Status gather(std::span<const RowRange> wanted);
  Status findAddress(const ArgSpec &arg, BatchPlan::Kind kind, Scope &scope,
                     uint64_t &address);
  void bindDraw(size_t number, int64_t ofLogits, uint64_t *to);
  Status addDraws(CommandList &to, std::span<const BatchDraw> draws);
  Status uploadSettings(std::span<const BatchDraw> draws);
  /// Uploads what differs from what was `uploaded` last.
  template <typename Word>
  Status upload(const std::vector<Word> &words, const DeviceMemory &to,
                std::vector<Word> &uploaded);
  Status submit();
  Status submitTimed(const CommandList &list,
                     const std::vector<Launch> &launches);
  Status readLogits(std::span<const RowRange> wanted);
  Status readDrawn(size_t count);

  Device &device;
  const MemoryMap &weights;
  BatchPlan plan;
  /// Of all rows, of each piece, of the wanted rows; in this order.
  std::vector<Scope> scopes;
  // What `order` is for. Pieces from `firstShared` on share launches.
  size_t numPieces = 0, firstShared = 0;
  bool split = false;
  bool chained = false; ///< pieces read what those before them wrote
  std::vector<std::vector<uint32_t>> order; ///< per launch: those before it
  std::vector<bool> waitsForEverything;     ///< per launch
  /// The launches of a step; late ones apart where rows move before them.
  CommandList list, lateList;
  std::vector<Launch> launched, lateLaunched; ///< for each of theirs
  /// What they were made for; empty after an error.
  std::vector<BatchPiece> madePieces;
  std::vector<RowRange> madeWanted;
  std::vector<int64_t> madeDraws; ///< numbers of logits
  DeviceMemory arena, pieceArenas, tokenMemory, logitsMemory;
  /// Devices that take numbers by address read them here: a word for each
  /// expression that is a number of some command, for each scope.
  DeviceMemory numberMemory;
  std::vector<ExprId> numberExprs; ///< sorted
  std::vector<int64_t> numbers, uploadedNumbers;
  /// The arguments of launches that sequences share: for each such command a
  /// place of rows for all pieces, so that a list does not change when one
  /// sequence follows another.
  DeviceMemory tableMemory;
  std::vector<size_t> tableOfCommand; ///< its first word; last: of draws
  std::vector<uint64_t> table, uploadedTable;
  /// Draws a token from one row of logits; null: not on this device.
  const CommandSpec *sampleCommand = nullptr;
  uint32_t sampleLogits = kNone, sampleSettings = kNone, sampleNext = kNone;
  /// Where its scratch buffers begin in the memory of a draw, by buffer.
  std::map<uint32_t, uint64_t> sampleScratch;
  uint64_t scratchOfDraw = 0;
  DeviceMemory settingsMemory, nextMemory, drawMemory;
  std::vector<int64_t> settings, uploadedSettings;
  std::vector<uint32_t> beforeDraws; ///< launches that make logits
  std::vector<int32_t> drawnTokens;
  std::vector<Recorded> recordings; ///< the last used first
  uint64_t launchCount = 0;
  Profile *profile = nullptr;
  std::vector<float> downloaded;
  const float *firstLogits = nullptr;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_BATCH_H
