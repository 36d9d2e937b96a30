//===- BatchLists.cpp - The launches of a step of a batch -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Batch.h"

#include <algorithm>
#include <cinttypes>
#include <set>

using namespace gist;

/// Gives every piece and the wanted rows their numbers, rows and memory.
Status Batch::setScopes(std::span<const BatchPiece> pieces,
                        std::span<const RowRange> wanted) {
  int64_t leastCapacity = plan.leastCapacity();
  auto arenaSize = [&](Scope &scope, uint64_t &bytes) -> Status {
    bytes = 0;
    if (plan.entry().arenaSize == kNone)
      return {};
    return scope.symbols.getSize(plan.entry().arenaSize, "arena size", bytes);
  };
  int64_t row = 0;
  uint64_t used = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const BatchPiece &piece = pieces[i];
    GIST_TRY(setScope(1 + i, piece.tokens, piece.before, piece.capacity));
    Scope &scope = scopes[1 + i];
    GIST_TRY(arenaSize(scope, scope.arenaSize));
    if (used > pieceArenas.size() ||
        scope.arenaSize > pieceArenas.size() - used)
      return Status::error(Code::BadArgument,
                           "a step is larger than the batch was made for");
    scope.row = row;
    scope.arena = pieceArenas.address() + used;
    scope.state = piece.state;
    used += (scope.arenaSize + kAlignment - 1) / kAlignment * kAlignment;
    row += piece.tokens;
  }
  auto setRows = [&](size_t number, int64_t begin, int64_t count) -> Status {
    GIST_TRY(setScope(number, count, 0, leastCapacity));
    scopes[number].row = begin;
    scopes[number].arena = arena.address();
    return {};
  };
  GIST_TRY(setRows(0, 0, row));
  GIST_TRY(arenaSize(scopes[0], scopes[0].arenaSize));
  if (scopes[0].arenaSize > arena.size())
    return Status::error(Code::BadArgument,
                         "a step is larger than the batch was made for");
  if (wanted.empty())
    return {};
  int64_t count = 0;
  for (const RowRange &range : wanted)
    count += range.end - range.begin;
  return setRows(1 + pieces.size(), wanted.front().begin, count);
}

/// Which launches wait for which. It depends only on how many pieces there are:
/// launches are the commands in order, those of one sequence for each piece or
/// for all that share one, and at the end the late ones. These are counted anew
/// where they are a list of their own.
void Batch::setOrder(size_t pieces, size_t shared, bool isSplit, bool isChain) {
  if (!order.empty() && pieces == numPieces && shared == firstShared &&
      isSplit == split && isChain == chained)
    return;
  chained = isChain;
  numPieces = pieces;
  firstShared = shared;
  split = isSplit;
  order.clear();
  waitsForEverything.clear();
  using Kind = BatchPlan::Kind;
  const std::vector<CommandSpec> &commands = plan.entry().commands;
  std::vector<uint32_t> first(commands.size()); // launch of each command
  auto isOfOne = [&](size_t number) {
    return plan.command(number).kind == Kind::OfOne;
  };
  // Among the launches of a command, that of a piece.
  auto launchOf = [&](size_t number, size_t piece) {
    if (!isOfOne(number))
      return size_t{0};
    return plan.command(number).sharesLaunch ? std::min(piece, shared) : piece;
  };
  for (uint32_t i : plan.early()) {
    first[i] = static_cast<uint32_t>(order.size());
    std::vector<std::set<uint32_t>> before(launchOf(i, pieces - 1) + 1);
    for (size_t k = 0; k < commands[i].after.size(); ++k) {
      uint32_t earlier = commands[i].after[k];
      bool all = isChain || !isOfOne(i) || plan.command(i).waitsForAll[k];
      for (size_t piece = 0; piece < pieces; ++piece) {
        auto launch = static_cast<uint32_t>(launchOf(earlier, piece));
        if (!all)
          before[launchOf(i, piece)].insert(first[earlier] + launch);
        else
          for (std::set<uint32_t> &each : before)
            each.insert(first[earlier] + launch);
      }
    }
    for (const std::set<uint32_t> &each : before) {
      order.emplace_back(each.begin(), each.end());
      waitsForEverything.push_back(!commands[i].hasAfter);
    }
  }
  auto begin = isSplit ? 0 : static_cast<uint32_t>(order.size());
  uint32_t launch = begin;
  for (uint32_t i : plan.late()) {
    first[i] = launch;
    std::vector<uint32_t> launches;
    for (uint32_t before : commands[i].after)
      if (plan.command(before).kind == Kind::Wanted)
        launches.push_back(first[before]);
      else if (launch != begin)
        launches.push_back(begin);
    order.push_back(std::move(launches));
    // The first one stands for all early ones.
    waitsForEverything.push_back(!commands[i].hasAfter || launch == begin);
    ++launch;
  }
}

Status Batch::findAddress(const ArgSpec &arg, BatchPlan::Kind kind,
                          Scope &scope, uint64_t &address) {
  const BufferSpec &buffer = plan.module().spec().buffers[arg.buffer];
  uint64_t rowBytes = plan.rowBytes(arg.buffer);
  uint64_t offset = 0, available = 0;
  auto inArena = [&](Scope &of) -> Status {
    GIST_TRY(of.symbols.getSize(buffer.offset, "offset", offset));
    uint64_t size = 0;
    GIST_TRY(of.symbols.getSize(buffer.size, "size", size));
    if (offset > of.arenaSize || size > of.arenaSize - offset)
      return Status::error(Code::BadFile,
                           "%" PRIu64 " bytes at offset %" PRIu64
                           " do not fit in %" PRIu64,
                           size, offset, of.arenaSize);
    address = of.arena + offset;
    available = size;
    return {};
  };
  auto inRange = [&](const MemoryMap::Range &range) {
    address = range.address;
    available = range.size;
  };
  switch (buffer.kind) {
  case BufferKind::Weight:
    inRange(weights.buffers[arg.buffer]);
    break;
  case BufferKind::State:
    inRange((*scope.state)[arg.buffer]);
    break;
  case BufferKind::Arena: {
    // Rows, and what is by rows, are of all sequences.
    bool isShared = rowBytes != 0 || kind != BatchPlan::Kind::OfOne;
    GIST_TRY(inArena(isShared ? scopes[0] : scope));
    break;
  }
  case BufferKind::Input:
    inRange({tokenMemory.address(), tokenMemory.size()});
    break;
  case BufferKind::Output:
    inRange({logitsMemory.address(), logitsMemory.size()});
    break;
  }
  // Logits lie together from the first row on.
  int64_t row = buffer.kind == BufferKind::Output ? 0 : scope.row;
  uint64_t skipped = static_cast<uint64_t>(row) * rowBytes, own = 0;
  if (arg.value != kNone)
    GIST_TRY(scope.symbols.getSize(arg.value, "offset of an argument", own));
  // A kernel knows how much it reads; here only its start can be checked.
  if (skipped > available || own > available - skipped)
    return Status::error(Code::BadFile,
                         "%" PRIu64 " is behind the end of %" PRIu64 " bytes",
                         skipped + own, available);
  address += skipped + own;
  return {};
}

/// Writes the slots of a command.
Status Batch::bindArguments(const CommandSpec &command, BatchPlan::Kind kind,
                            size_t scopeNumber, uint64_t *to) {
  Scope &scope = scopes[scopeNumber];
  for (const ArgSpec &arg : command.args) {
    uint64_t value = 0;
    if (arg.buffer != kNone) {
      GIST_TRY(findAddress(arg, kind, scope, value)
                   .in(plan.module().spec().buffers[arg.buffer].name));
    } else if (numberExprs.empty()) {
      int64_t scalar = 0;
      GIST_TRY(scope.symbols.get(arg.value, scalar));
      value = static_cast<uint64_t>(scalar);
    } else {
      auto word =
          std::lower_bound(numberExprs.begin(), numberExprs.end(), arg.value);
      size_t at = scopeNumber * numberExprs.size() +
                  static_cast<size_t>(word - numberExprs.begin());
      value = numberMemory.address() + at * sizeof(int64_t);
    }
    *to++ = value;
  }
  return {};
}

/// Gives all scopes of a step their words of `numbers`.
Status Batch::bindNumbers(size_t numScopes) {
  numbers.resize(scopes.size() * numberExprs.size());
  auto word = numbers.begin();
  for (size_t i = 0; i < numScopes; ++i)
    for (ExprId expr : numberExprs)
      GIST_TRY(scopes[i].symbols.get(expr, *word++));
  return {};
}

/// Adds a launch of a command; `place` is its place in `order`.
Status Batch::addLaunch(CommandList &to, size_t number, size_t scopeNumber,
                        size_t place) {
  const CommandSpec &command = plan.entry().commands[number];
  BoundCommand bound;
  bound.kernel = command.kernel;
  bound.firstArg = static_cast<uint32_t>(to.args.size());
  bound.argCount = static_cast<uint32_t>(command.args.size());
  bound.after = waitsForEverything[place] ? nullptr : &order[place];
  GIST_TRY(bindGrid(command, scopes[scopeNumber].symbols, bound.grid));
  to.args.resize(to.args.size() + bound.argCount);
  GIST_TRY(bindArguments(command, plan.command(number).kind, scopeNumber,
                         to.args.data() + bound.firstArg));
  to.commands.push_back(bound);
  (&to == &list ? launched : lateLaunched).push_back({number, scopeNumber});
  return {};
}

/// Adds one launch of a command for all pieces that share one.
Status Batch::addSharedLaunch(size_t number, size_t place) {
  const CommandSpec &command = plan.entry().commands[number];
  BoundCommand bound;
  bound.kernel = command.kernel;
  bound.firstArg = static_cast<uint32_t>(list.args.size());
  bound.argCount = 1;
  bound.byTable = true;
  bound.after = waitsForEverything[place] ? nullptr : &order[place];
  // They have one token each, so it is the same for all.
  GIST_TRY(bindGrid(command, scopes[1 + firstShared].symbols, bound.grid));
  bound.grid[2] = static_cast<uint32_t>(numPieces - firstShared);
  size_t first = tableOfCommand[number];
  uint64_t *row = table.data() + first;
  for (size_t piece = firstShared; piece < numPieces; ++piece) {
    GIST_TRY(bindArguments(command, BatchPlan::Kind::OfOne, 1 + piece, row));
    row += command.args.size();
  }
  list.args.push_back(tableMemory.address() + first * sizeof(uint64_t));
  list.commands.push_back(bound);
  launched.push_back({number, 1 + firstShared, /*isShared=*/true});
  return {};
}

/// Writes the slots of a draw from row `ofLogits` of the logits.
void Batch::bindDraw(size_t number, int64_t ofLogits, uint64_t *to) {
  for (const ArgSpec &arg : sampleCommand->args) {
    if (arg.buffer == sampleLogits)
      *to = logitsMemory.address() +
            static_cast<uint64_t>(ofLogits) * plan.logitsBytes();
    else if (arg.buffer == sampleSettings)
      *to = settingsMemory.address() +
            number * SampleSettings::NumFields * sizeof(int64_t);
    else if (arg.buffer == sampleNext)
      *to = nextMemory.address() + number * sizeof(int32_t);
    else
      *to = drawMemory.address() + number * scratchOfDraw +
            sampleScratch.find(arg.buffer)->second;
    ++to;
  }
}

/// One launch for all tokens that are drawn, or one for each, side by side
/// behind the logits.
Status Batch::addDraws(CommandList &to, std::span<const BatchDraw> draws) {
  if (draws.empty())
    return {};
  size_t numArgs = sampleCommand->args.size();
  BoundCommand bound;
  bound.kernel = sampleCommand->kernel;
  bound.after = &beforeDraws;
  GIST_TRY(bindGrid(*sampleCommand, scopes[0].symbols, bound.grid));
  bound.firstArg = static_cast<uint32_t>(to.args.size());
  if (draws.size() > 1 && plan.isByTable(*sampleCommand)) {
    size_t first = tableOfCommand.back();
    for (size_t i = 0; i < draws.size(); ++i)
      bindDraw(i, draws[i].number, table.data() + first + i * numArgs);
    bound.byTable = true;
    bound.argCount = 1;
    bound.grid[2] = static_cast<uint32_t>(draws.size());
    to.args.push_back(tableMemory.address() + first * sizeof(uint64_t));
    to.commands.push_back(bound);
    return {};
  }
  bound.argCount = static_cast<uint32_t>(numArgs);
  to.args.resize(to.args.size() + draws.size() * numArgs);
  for (size_t i = 0; i < draws.size(); ++i) {
    bindDraw(i, draws[i].number, to.args.data() + bound.firstArg);
    to.commands.push_back(bound);
    bound.firstArg += bound.argCount;
  }
  return {};
}

/// Whether the lists of the last step serve this one as well: the same
/// sequences write one token more. Binding 64 of them takes as long as a tenth
/// of a step does on a card.
bool Batch::isRepeated(std::span<const BatchPiece> pieces,
                       std::span<const RowRange> wanted,
                       std::span<const BatchDraw> draws) const {
  // Numbers that are arguments are part of the lists.
  if (numberExprs.empty() || plan.movesWithPast())
    return false;
  auto isSamePiece = [](const BatchPiece &a, const BatchPiece &b) {
    return a.sequence != 0 && a.sequence == b.sequence &&
           a.tokens == b.tokens && a.capacity == b.capacity &&
           a.state == b.state;
  };
  auto isSameRange = [](const RowRange &a, const RowRange &b) {
    return a.begin == b.begin && a.end == b.end;
  };
  auto isSameDraw = [](const BatchDraw &a, int64_t number) {
    return a.number == number;
  };
  return std::equal(pieces.begin(), pieces.end(), madePieces.begin(),
                    madePieces.end(), isSamePiece) &&
         std::equal(wanted.begin(), wanted.end(), madeWanted.begin(),
                    madeWanted.end(), isSameRange) &&
         std::equal(draws.begin(), draws.end(), madeDraws.begin(),
                    madeDraws.end(), isSameDraw);
}

Status Batch::makeLists(std::span<const BatchPiece> pieces,
                        std::span<const RowRange> wanted,
                        std::span<const BatchDraw> draws) {
  madePieces.clear();
  // Those that write come last. One alone needs no table.
  size_t shared = pieces.size();
  while (shared != 0 && pieces[shared - 1].tokens == 1)
    --shared;
  if (shared + 1 == pieces.size())
    shared = pieces.size();
  bool isSplit = wanted.size() > 1;
  // Pieces of one sequence follow one another.
  bool isChain =
      std::adjacent_find(pieces.begin(), pieces.end(),
                         [](const BatchPiece &a, const BatchPiece &b) {
                           return a.state == b.state;
                         }) != pieces.end();
  setOrder(pieces.size(), shared, isSplit, isChain);
  for (CommandList *each : {&list, &lateList}) {
    each->commands.clear();
    each->args.clear();
  }
  launched.clear();
  lateLaunched.clear();
  size_t place = 0;
  for (uint32_t i : plan.early()) {
    bool isOfOne = plan.command(i).kind == BatchPlan::Kind::OfOne;
    size_t own = !isOfOne                       ? 1
                 : plan.command(i).sharesLaunch ? shared
                                                : pieces.size();
    for (size_t piece = 0; piece < own; ++piece)
      GIST_TRY(addLaunch(list, i, isOfOne ? 1 + piece : 0, place++));
    if (isOfOne && own < pieces.size())
      GIST_TRY(addSharedLaunch(i, place++));
  }
  CommandList &late = isSplit ? lateList : list;
  if (!wanted.empty())
    for (uint32_t i : plan.late())
      GIST_TRY(addLaunch(late, i, 1 + pieces.size(), place++));
  // The last launch waits for all before it.
  beforeDraws = {static_cast<uint32_t>(late.commands.size() - 1)};
  GIST_TRY(addDraws(late, draws));
  madeWanted.assign(wanted.begin(), wanted.end());
  madeDraws.clear();
  for (const BatchDraw &draw : draws)
    madeDraws.push_back(draw.number);
  madePieces.assign(pieces.begin(), pieces.end());
  return {};
}
