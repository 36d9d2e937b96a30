//===- GrammarMatcher.h - How far a text follows a grammar ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is every way to read the text so far: a place in the program and a
// stack for each. States and the steps between them are kept, so that a
// grammar becomes an automaton as texts ask for it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_GRAMMARMATCHER_H
#define GIST_RUNTIME_GRAMMAR_GRAMMARMATCHER_H

#include "runtime/grammar/GrammarProgram.h"

#include <memory>
#include <span>
#include <unordered_map>

namespace gist {

class GrammarMatcher {
public:
  // What is kept for one text; where there is more, all is forgotten but the
  // state of the text. One token may need twice as much: about 20 MiB.
  static constexpr size_t kMaxStates = 1 << 12;
  static constexpr size_t kMaxFrames = 1 << 16;
  static constexpr size_t kMaxPlaces = 1 << 18;
  /// Places of one state: a grammar that can be read in more ways at once is
  /// given up.
  static constexpr size_t kMaxWays = 1 << 13;
  /// Places that are looked at: so many at first, and with each token. About
  /// a quarter of a second, and a millisecond.
  static constexpr uint64_t kFirstWork = 1 << 22, kTokenWork = 1 << 14;

  using State = uint32_t;
  /// No text that begins like this matches.
  static constexpr State kDead = 0;

  explicit GrammarMatcher(std::shared_ptr<const GrammarProgram> program);

  State start() { return first; }
  /// The state after one more byte.
  State next(State state, uint8_t byte) {
    uint32_t at = state * classes + program->classOf[byte];
    State known = edges[at];
    return known != kUnknown ? known : follow(state, program->classOf[byte]);
  }
  /// Whether the text so far matches.
  bool accepts(State state) const { return states[state].accepts; }

  /// More work may be done from now on.
  void allowWork() {
    work = work + kTokenWork < kFirstWork ? work + kTokenWork : kFirstWork;
  }
  /// An error when a step could not be done; then the state was kDead.
  Status status() const;

  /// True when so much is kept that compact() should be called.
  bool isFull() const {
    return states.size() >= kMaxStates || frames.size() >= kMaxFrames ||
           places.size() >= kMaxPlaces;
  }
  /// Forgets all but `state`, and gives its new number.
  State compact(State state);

private:
  static constexpr State kUnknown = UINT32_MAX;
  using NodeId = GrammarProgram::NodeId;
  /// A call or a count that is not over; number 0 is the empty stack.
  struct Frame {
    uint32_t below = 0;
    NodeId node = 0;
    uint32_t count = 0;
    uint32_t depth = 0;

    bool operator==(const Frame &) const = default;
  };
  struct FrameHash {
    size_t operator()(const Frame &frame) const;
  };
  /// Where a reading of the text is: a node of kind Byte, and its stack.
  struct Place {
    NodeId node = 0;
    uint32_t stack = 0;

    auto operator<=>(const Place &) const = default;
  };
  struct StateData {
    uint32_t firstPlace = 0, placeCount = 0;
    bool accepts = false;
  };

  State follow(State state, uint32_t byteClass);
  uint32_t push(uint32_t below, NodeId node, uint32_t count);
  void repeat(NodeId count, uint32_t done, uint32_t stack);
  void open(NodeId node, uint32_t stack);
  void visit(Place place);
  /// The state of all that is open.
  State close();
  State intern();
  void clear();

  std::shared_ptr<const GrammarProgram> program;
  uint32_t classes;
  State first = kDead;
  std::vector<Frame> frames;
  std::unordered_map<Frame, uint32_t, FrameHash> frameNumbers;
  std::vector<StateData> states;
  std::vector<Place> places;
  std::unordered_multimap<uint64_t, State> stateNumbers;
  std::vector<State> edges; ///< by state and class
  uint64_t work = kFirstWork;
  bool isTooMuch = false;
  // Of one step; kept for their memory.
  std::vector<Place> opened, reached;
  bool accepted = false;
  std::vector<uint64_t> seen; ///< a table with open addresses
  size_t seenCount = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_GRAMMARMATCHER_H
