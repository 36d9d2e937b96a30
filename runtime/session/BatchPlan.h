//===- BatchPlan.h - Which commands sequences can share ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an entry that gives a row of logits for every token (`score`), or that
// leaves state alone (`read`), looks like to a batch of sequences. Commands are
// of three kinds: those by rows run once for the rows of all sequences; those
// of one sequence run for each; and those by rows that no command of a sequence
// waits for run at the end, only for rows whose logits are wanted.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_BATCHPLAN_H
#define GIST_RUNTIME_SESSION_BATCHPLAN_H

#include "runtime/session/EntryCall.h"

#include <vector>

namespace gist {

class BatchPlan {
public:
  enum class Kind {
    AllRows, ///< once, for the rows of all sequences
    OfOne,   ///< for each sequence: its state, its positions
    Wanted,  ///< for the rows whose logits are wanted
  };
  struct Command {
    Kind kind = Kind::OfOne;
    /// For each of CommandSpec::after between two commands of one sequence:
    /// whether it must wait for that command of all sequences. It does where
    /// both use a part of the arena by rows of different length, so that rows
    /// of one sequence lie where others of another were.
    std::vector<bool> waitsForAll;
    /// Of a command of one sequence: sequences with one token each may share a
    /// launch, whose arguments are a table. Its grid depends on tokens alone.
    bool sharesLaunch = false;
  };

  /// Refuses an entry that is not made of such commands; `target` is the target
  /// whose code runs it. `module` must outlive the plan.
  static Status create(const Module &module, const EntrySpec &entry,
                       uint32_t target, BatchPlan &plan);

  const Module &module() const { return *source; }
  const EntrySpec &entry() const { return *spec; }
  const Command &command(size_t number) const { return commands[number]; }
  /// Bytes of a row in a buffer that has one for every token; 0: it has none.
  uint64_t rowBytes(uint32_t buffer) const { return rows[buffer]; }
  /// The input of tokens and the output of logits, both by rows. kNone: the
  /// entry leaves state alone.
  uint32_t tokens() const { return tokenBuffer; }
  uint32_t logits() const { return logitsBuffer; }
  /// Bytes of a row of logits.
  uint64_t logitsBytes() const {
    return logitsBuffer == kNone ? 0 : rows[logitsBuffer];
  }
  /// Commands that are not Wanted, and then those that are, in order.
  const std::vector<uint32_t> &early() const { return earlyCommands; }
  const std::vector<uint32_t> &late() const { return lateCommands; }

  /// Scratch buffers by rows that early commands leave for late ones.
  const std::vector<uint32_t> &handedOver() const { return handed; }

  /// Whether grids and addresses of launches depend on how many tokens a
  /// sequence has already. Where they do not, its next token takes the same.
  bool movesWithPast() const { return moves; }

  /// Whether `command` has code that takes its arguments from a table.
  bool isByTable(const CommandSpec &command) const;

  const CallSymbols &symbols() const { return callSymbols; }
  /// The least capacity that the module was compiled for; 0: it has none.
  int64_t leastCapacity() const {
    return callSymbols.capacity == kNone
               ? 0
               : source->spec().symbols[callSymbols.capacity].min;
  }

private:
  Status findRows();
  Status findEndpoints();
  void findKinds();
  Status findHandedOver();
  Status checkCommand(size_t number) const;
  void findWaits(size_t number);
  bool canShareLaunch(size_t number) const;
  void findMoves();

  const Module *source = nullptr;
  const EntrySpec *spec = nullptr;
  uint32_t target = kNone;
  std::vector<Command> commands;
  std::vector<uint64_t> rows; ///< per buffer
  CallSymbols callSymbols;
  uint32_t tokenBuffer = kNone, logitsBuffer = kNone;
  std::vector<uint32_t> earlyCommands, lateCommands;
  std::vector<uint32_t> handed;
  bool moves = false;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_BATCHPLAN_H
