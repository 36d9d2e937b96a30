//===- Carried.h - What loops and branches carry, by name -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is a value, a list of states, or a struct of states whose getParts()
// ties its members in the order in which a loop carries them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_CARRIED_H
#define GIST_PASSES_TILE_GPU_CORE_CARRIED_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"

#include <tuple>

namespace gist {

/// Calls `visit` with a reference to every value of `state`, in order.
template <typename State, typename Visit>
void forEachValue(State &state, const Visit &visit) {
  if constexpr (std::is_same_v<State, mlir::Value>)
    visit(state);
  else if constexpr (requires { state.getParts(); })
    std::apply([&](auto &...parts) { (forEachValue(parts, visit), ...); },
               state.getParts());
  else
    for (auto &item : state)
      forEachValue(item, visit);
}

/// The values of a state.
template <typename State> GpuBuilder::Values pack(State state) {
  GpuBuilder::Values values;
  forEachValue(state, [&](mlir::Value value) { values.push_back(value); });
  return values;
}

/// The state of these values, which has the lists and types of `like`.
template <typename State> State unpack(State like, mlir::ValueRange values) {
  forEachValue(like, [&](mlir::Value &value) {
    value = values.front();
    values = values.drop_front();
  });
  return like;
}

/// for (iv = lower; iv < upper; iv += step) state = body(iv, state).
template <typename State, typename Body>
State carry(GpuBuilder &b, mlir::Value lower, mlir::Value upper,
            mlir::Value step, const State &start, const Body &body) {
  auto packed = [&](mlir::Value iv, mlir::ValueRange carried) {
    return pack(body(iv, unpack(start, carried)));
  };
  return unpack(start, b.loop(lower, upper, step, pack(start), packed));
}
template <typename State, typename Body>
State carry(GpuBuilder &b, mlir::Value lower, mlir::Value upper,
            const State &start, const Body &body) {
  return carry(b, lower, upper, b.index(1), start, body);
}

/// scf.while: `before` gives whether there is another round, and its state.
template <typename State, typename Before, typename After>
State carryWhile(GpuBuilder &b, const State &start, const Before &before,
                 const After &after) {
  GpuBuilder::Values values = pack(start);
  mlir::TypeRange types = mlir::ValueRange(values).getTypes();
  llvm::SmallVector<mlir::Location> locations(values.size(), b.getLoc());
  auto loop = mlir::scf::WhileOp::create(b, types, values);
  auto begin = [&](mlir::Region &region) {
    mlir::Block *block = b.createBlock(&region, {}, types, locations);
    return unpack(start, block->getArguments());
  };
  mlir::OpBuilder::InsertionGuard guard(b);
  auto [isOne, state] = before(begin(loop.getBefore()));
  mlir::scf::ConditionOp::create(b, isOne, pack(state));
  mlir::scf::YieldOp::create(b, pack(after(begin(loop.getAfter()))));
  return unpack(start, loop.getResults());
}

/// do state = body(state); while (isOne(state)).
template <typename State, typename Test, typename Body>
State repeat(GpuBuilder &b, const State &start, const Test &isOne,
             const Body &body) {
  auto round = [&](const State &state) {
    State next = body(state);
    return std::pair(isOne(next), next);
  };
  return carryWhile(b, start, round, [](const State &state) { return state; });
}

/// while (isOne(state)) state = body(state).
template <typename State, typename Test, typename Body>
State takeWhile(GpuBuilder &b, const State &start, const Test &isOne,
                const Body &body) {
  auto test = [&](const State &state) {
    return std::pair(isOne(state), state);
  };
  return carryWhile(b, start, test, body);
}

/// yes() where `condition`, else no(): states like `like`.
template <typename State, typename Yes, typename No>
State choose(GpuBuilder &b, mlir::Value condition, const State &like,
             const Yes &yes, const No &no) {
  GpuBuilder::Values values = pack(like);
  auto branch =
      mlir::scf::IfOp::create(b, mlir::ValueRange(values).getTypes(), condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  mlir::scf::YieldOp::create(b, pack(yes()));
  b.setInsertionPointToStart(branch.elseBlock());
  mlir::scf::YieldOp::create(b, pack(no()));
  return unpack(like, branch.getResults());
}

/// body(state) where `condition`, else `state`.
template <typename State, typename Body>
State takeIf(GpuBuilder &b, mlir::Value condition, const State &state,
             const Body &body) {
  return choose(
      b, condition, state, [&] { return body(state); }, [&] { return state; });
}

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_CARRIED_H
