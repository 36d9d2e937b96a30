//===- GrammarMatcher.cpp - How far a text follows a grammar --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/GrammarMatcher.h"

#include <algorithm>

using namespace gist;

using Kind = GrammarProgram::Kind;
using Node = GrammarProgram::Node;

/// Spreads the bits of a number (the last step of SplitMix64).
static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

size_t GrammarMatcher::FrameHash::operator()(const Frame &frame) const {
  return mix(mix(uint64_t{frame.below} << 32 | frame.node) + frame.count);
}

GrammarMatcher::GrammarMatcher(std::shared_ptr<const GrammarProgram> chosen)
    : program(std::move(chosen)), classes(program->classCount) {
  clear();
  open(program->start, 0);
  first = close();
}

void GrammarMatcher::clear() {
  frames.assign(1, {});
  frameNumbers.clear();
  states.assign(1, {});
  places.clear();
  stateNumbers.clear();
  // What is dead stays dead.
  edges.assign(classes, kDead);
}

Status GrammarMatcher::status() const {
  if (!isTooMuch)
    return {};
  return Status::error(Code::Unsupported,
                       "the grammar can be read in too many ways at once; "
                       "expected one that needs fewer than %zu",
                       kMaxWays);
}

uint32_t GrammarMatcher::push(uint32_t below, NodeId node, uint32_t count) {
  Frame frame{below, node, count, frames[below].depth + 1};
  auto [at, isNew] =
      frameNumbers.try_emplace(frame, static_cast<uint32_t>(frames.size()));
  if (isNew)
    frames.push_back(frame);
  return at->second;
}

/// Goes on from a node, unless a place that was seen already did.
void GrammarMatcher::open(NodeId node, uint32_t stack) {
  uint32_t need = program->nodes[node].need;
  // Whatever is open can come to an end: no way leads where none goes on.
  if (need > GrammarProgram::kMaxStack - frames[stack].depth)
    return;
  uint64_t key = (uint64_t{node} << 32 | stack) + 1;
  if (seenCount * 2 >= seen.size()) {
    std::vector<uint64_t> old = std::move(seen);
    seen.assign(std::max<size_t>(64, old.size() * 2), 0);
    for (uint64_t each : old)
      if (each != 0) {
        size_t at = mix(each) & (seen.size() - 1);
        while (seen[at] != 0)
          at = (at + 1) & (seen.size() - 1);
        seen[at] = each;
      }
  }
  size_t at = mix(key) & (seen.size() - 1);
  while (seen[at] != 0) {
    if (seen[at] == key)
      return;
    at = (at + 1) & (seen.size() - 1);
  }
  seen[at] = key;
  ++seenCount;
  opened.push_back({node, stack});
}

/// After `done` bodies of a Count, whose frame is not on the stack.
void GrammarMatcher::repeat(NodeId count, uint32_t done, uint32_t stack) {
  const Node &node = program->nodes[count];
  if (done >= node.least)
    open(node.next, stack);
  if (done >= node.most || frames[stack].depth >= GrammarProgram::kMaxStack)
    return;
  // Without an upper end, counts that are enough are all alike.
  if (node.most == Grammar::kUnbounded)
    done = std::min(done, node.least);
  open(node.other, push(stack, count, done));
}

void GrammarMatcher::visit(Place place) {
  const Node &node = program->nodes[place.node];
  const Frame frame = frames[place.stack];
  switch (node.kind) {
  case Kind::Byte:
    reached.push_back(place);
    return;
  case Kind::Split:
    open(node.next, place.stack);
    open(node.other, place.stack);
    return;
  case Kind::Call:
    if (node.isTail)
      open(node.other, place.stack);
    else if (frame.depth < GrammarProgram::kMaxStack)
      open(node.other, push(place.stack, place.node, 0));
    return;
  case Kind::Return:
    if (place.stack == 0)
      accepted = true;
    else
      open(program->nodes[frame.node].next, frame.below);
    return;
  case Kind::Count:
    repeat(place.node, 0, place.stack);
    return;
  case Kind::Again:
    repeat(frame.node, frame.count + 1, frame.below);
    return;
  }
}

GrammarMatcher::State GrammarMatcher::close() {
  accepted = false;
  reached.clear();
  while (!opened.empty() && !isTooMuch) {
    isTooMuch = work == 0 || reached.size() > kMaxWays ||
                frames.size() > 2 * kMaxFrames ||
                states.size() > 2 * kMaxStates ||
                places.size() > 2 * kMaxPlaces;
    Place place = opened.back();
    opened.pop_back();
    work -= work > 0 ? 1 : 0;
    visit(place);
  }
  opened.clear();
  // A large table is not cleared again and again for small steps.
  constexpr size_t kSmallTable = 256;
  seen.resize(std::min(seen.size(), kSmallTable));
  std::fill(seen.begin(), seen.end(), 0);
  seenCount = 0;
  return isTooMuch ? kDead : intern();
}

/// The number of the state with the places that were reached.
GrammarMatcher::State GrammarMatcher::intern() {
  if (reached.empty() && !accepted)
    return kDead;
  std::sort(reached.begin(), reached.end());
  uint64_t hash = accepted ? 1 : 0;
  for (Place place : reached)
    hash = mix(hash ^ (uint64_t{place.node} << 32 | place.stack));
  auto [begin, end] = stateNumbers.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const StateData &data = states[at->second];
    auto from = places.begin() + data.firstPlace;
    if (data.accepts == accepted && std::equal(reached.begin(), reached.end(),
                                               from, from + data.placeCount))
      return at->second;
  }
  auto number = static_cast<State>(states.size());
  states.push_back({static_cast<uint32_t>(places.size()),
                    static_cast<uint32_t>(reached.size()), accepted});
  places.insert(places.end(), reached.begin(), reached.end());
  edges.resize(edges.size() + classes, kUnknown);
  stateNumbers.emplace(hash, number);
  return number;
}

GrammarMatcher::State GrammarMatcher::follow(State state, uint32_t byteClass) {
  const StateData data = states[state];
  for (uint32_t i = 0; i < data.placeCount; ++i) {
    Place place = places[data.firstPlace + i];
    const Node &node = program->nodes[place.node];
    if (program->classSets[node.set][byteClass])
      open(node.next, place.stack);
  }
  work -= std::min<uint64_t>(work, data.placeCount / 8);
  State result = close();
  // What was given up is not known.
  if (!isTooMuch)
    edges[state * classes + byteClass] = result;
  return result;
}

GrammarMatcher::State GrammarMatcher::compact(State state) {
  std::vector<Frame> oldFrames = std::move(frames);
  StateData data = states[state];
  std::vector<Place> kept(places.begin() + data.firstPlace,
                          places.begin() + data.firstPlace + data.placeCount);
  clear();
  std::vector<uint32_t> path;
  for (Place &place : kept) {
    path.clear();
    for (uint32_t at = place.stack; at != 0; at = oldFrames[at].below)
      path.push_back(at);
    uint32_t stack = 0;
    for (size_t i = path.size(); i-- > 0;)
      stack = push(stack, oldFrames[path[i]].node, oldFrames[path[i]].count);
    place.stack = stack;
  }
  reached = std::move(kept);
  accepted = data.accepts;
  return intern();
}
