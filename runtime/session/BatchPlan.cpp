//===- BatchPlan.cpp - Which commands sequences can share -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/BatchPlan.h"
#include "runtime/support/Checked.h"

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <set>

using namespace gist;

Status BatchPlan::create(const Module &module, const EntrySpec &entry,
                         uint32_t target, BatchPlan &plan) {
  BatchPlan result;
  result.source = &module;
  result.spec = &entry;
  result.target = target;
  result.callSymbols = CallSymbols(module);
  std::string where = "entry '" + entry.name + "'";
  GIST_TRY(result.findRows().in(where));
  GIST_TRY(result.findEndpoints().in(where));
  result.findKinds();
  GIST_TRY(result.findHandedOver().in(where));
  for (size_t i = 0; i < entry.commands.size(); ++i) {
    GIST_TRY(
        result.checkCommand(i).in(where + " command " + std::to_string(i)));
    result.findWaits(i);
    result.commands[i].sharesLaunch = result.canShareLaunch(i);
  }
  result.findMoves();
  plan = std::move(result);
  return {};
}

Status BatchPlan::findRows() {
  const ModuleSpec &module = source->spec();
  rows.assign(module.buffers.size(), 0);
  if (callSymbols.tokens == kNone)
    return Status::error(Code::Unsupported,
                         "calls have no number of tokens (symbol '%s')",
                         kSymbolTokens);
  const Expr tokens = Expr::symbol(callSymbols.tokens);
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const BufferSpec &buffer = module.buffers[i];
    if (buffer.kind == BufferKind::Weight || buffer.kind == BufferKind::State ||
        buffer.shape.empty() || module.exprs[buffer.shape[0]] != tokens)
      continue;
    uint64_t bytes = elementSize(buffer.type);
    for (size_t dim = 1; dim < buffer.shape.size(); ++dim) {
      const Expr &size = module.exprs[buffer.shape[dim]];
      bool isConstant =
          size.steps.size() == 1 && size.steps[0].op == ExprOp::Const;
      if (!isConstant || size.steps[0].value < 0 ||
          mulOverflows(bytes, static_cast<uint64_t>(size.steps[0].value),
                       bytes)) {
        bytes = 0;
        break;
      }
    }
    rows[i] = bytes;
  }
  return {};
}

Status BatchPlan::findEndpoints() {
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  auto isOne = [&](const std::vector<uint32_t> &numbers, ElementType type) {
    return numbers.size() == 1 && rows[numbers[0]] != 0 &&
           buffers[numbers[0]].type == type;
  };
  bool isForState = spec->outputs.empty();
  if (!isOne(spec->inputs, ElementType::I32) ||
      rows[spec->inputs[0]] != sizeof(int32_t) ||
      (!isForState &&
       (!isOne(spec->outputs, ElementType::F32) ||
        rows[spec->outputs[0]] !=
            sizeof(float) *
                static_cast<uint64_t>(source->spec().model.vocabSize))))
    return Status::error(
        Code::Unsupported,
        "should take one i32 token and give one row of %" PRId64
        " f32 logits for each token, or state alone",
        source->spec().model.vocabSize);
  tokenBuffer = spec->inputs[0];
  logitsBuffer = isForState ? kNone : spec->outputs[0];
  return {};
}

/// What a command of one sequence waits for, and what that waits for, has to
/// run for all rows; the rest can wait until all else is done.
void BatchPlan::findKinds() {
  size_t count = spec->commands.size();
  commands.resize(count);
  std::vector<bool> isEarly(count);
  for (size_t i = count; i-- > 0;) {
    const CommandSpec &command = spec->commands[i];
    isEarly[i] = isEarly[i] || !command.byRows;
    if (!isEarly[i])
      continue;
    if (!command.hasAfter)
      std::fill(isEarly.begin(), isEarly.begin() + static_cast<ptrdiff_t>(i),
                true);
    for (uint32_t before : command.after)
      isEarly[before] = true;
  }
  for (uint32_t i = 0; i < count; ++i) {
    (isEarly[i] ? earlyCommands : lateCommands).push_back(i);
    if (!isEarly[i])
      commands[i].kind = Kind::Wanted;
    else if (spec->commands[i].byRows)
      commands[i].kind = Kind::AllRows;
  }
}

/// Late commands run for other rows than early ones, so that all they get from
/// those must be rows.
Status BatchPlan::findHandedOver() {
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  std::set<uint32_t> early, late;
  auto collect = [&](const std::vector<uint32_t> &numbers,
                     std::set<uint32_t> &found) {
    for (uint32_t i : numbers)
      for (const ArgSpec &arg : spec->commands[i].args)
        if (arg.buffer != kNone &&
            buffers[arg.buffer].kind == BufferKind::Arena)
          found.insert(arg.buffer);
  };
  collect(earlyCommands, early);
  collect(lateCommands, late);
  std::set_intersection(early.begin(), early.end(), late.begin(), late.end(),
                        std::back_inserter(handed));
  for (uint32_t buffer : handed)
    if (rows[buffer] == 0)
      return Status::error(Code::Unsupported,
                           "the buffer '%s' has no rows, but commands by rows "
                           "behind the last sequence's read it",
                           buffers[buffer].name.c_str());
  return {};
}

/// A command by rows is launched with other numbers of rows than its entry was
/// called with, which must be all that it depends on.
Status BatchPlan::checkCommand(size_t number) const {
  const ModuleSpec &module = source->spec();
  const CommandSpec &command = spec->commands[number];
  Kind kind = commands[number].kind;
  auto dependsOnOne = [&](ExprId id) {
    if (id == kNone)
      return false;
    uint64_t mask = exprSymbols(module.exprs[id]);
    return (mask & ~(uint64_t{1} << callSymbols.tokens)) != 0;
  };
  for (const ArgSpec &arg : command.args) {
    // Logits are stored by wanted row, not by the row of their token.
    if (arg.buffer != kNone && arg.buffer == logitsBuffer &&
        kind != Kind::Wanted)
      return Status::error(Code::Unsupported,
                           "makes logits, but belongs to one sequence or is "
                           "waited for by such a command");
    if (kind == Kind::OfOne)
      continue;
    if (dependsOnOne(arg.value))
      return Status::error(Code::BadFile,
                           "is by rows, but depends on more than the number of "
                           "tokens");
    if (arg.buffer == kNone || rows[arg.buffer] != 0)
      continue;
    BufferKind of = module.buffers[arg.buffer].kind;
    if (of != BufferKind::Weight && of != BufferKind::Arena)
      return Status::error(Code::BadFile, "is by rows, but touches the %s '%s'",
                           toString(of),
                           module.buffers[arg.buffer].name.c_str());
  }
  for (ExprId size : command.grid)
    if (kind != Kind::OfOne && dependsOnOne(size))
      return Status::error(Code::BadFile,
                           "is by rows, but its grid depends on more than the "
                           "number of tokens");
  return {};
}

void BatchPlan::findWaits(size_t number) {
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  const CommandSpec &command = spec->commands[number];
  auto sharesPlace = [&](const ArgSpec &a, const ArgSpec &b) {
    // Slots of the arena are the same or apart, so the offset tells them.
    return a.buffer != kNone && b.buffer != kNone && a.buffer != b.buffer &&
           rows[a.buffer] != 0 && rows[b.buffer] != 0 &&
           buffers[a.buffer].kind == BufferKind::Arena &&
           buffers[b.buffer].kind == BufferKind::Arena &&
           buffers[a.buffer].offset == buffers[b.buffer].offset &&
           rows[a.buffer] != rows[b.buffer];
  };
  for (uint32_t before : command.after) {
    const CommandSpec &earlier = spec->commands[before];
    bool all = std::any_of(
        command.args.begin(), command.args.end(), [&](const ArgSpec &a) {
          return std::any_of(
              earlier.args.begin(), earlier.args.end(),
              [&](const ArgSpec &b) { return sharesPlace(a, b); });
        });
    commands[number].waitsForAll.push_back(all);
  }
}

bool BatchPlan::isByTable(const CommandSpec &command) const {
  const std::vector<KernelCode> &code =
      source->spec().kernels[command.kernel].code;
  return command.grid[2] == kNone &&
         std::any_of(code.begin(), code.end(), [&](const KernelCode &each) {
           return each.target == target && !each.byTable.empty();
         });
}

bool BatchPlan::canShareLaunch(size_t number) const {
  const CommandSpec &command = spec->commands[number];
  if (commands[number].kind != Kind::OfOne || !isByTable(command))
    return false;
  return std::all_of(command.grid.begin(), command.grid.end(), [&](ExprId id) {
    return id == kNone || (exprSymbols(source->spec().exprs[id]) &
                           ~(uint64_t{1} << callSymbols.tokens)) == 0;
  });
}

void BatchPlan::findMoves() {
  const ModuleSpec &module = source->spec();
  auto check = [&](ExprId id) {
    moves |= id != kNone && callSymbols.past != kNone &&
             (exprSymbols(module.exprs[id]) >> callSymbols.past & 1) != 0;
  };
  check(spec->arenaSize);
  for (const CommandSpec &command : spec->commands) {
    for (ExprId size : command.grid)
      check(size);
    for (const ArgSpec &arg : command.args) {
      if (arg.buffer == kNone)
        continue;
      check(arg.value);
      check(module.buffers[arg.buffer].offset);
      check(module.buffers[arg.buffer].size);
    }
  }
}
