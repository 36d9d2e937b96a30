//===- GrammarProgram.cpp - A grammar as steps to execute -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/GrammarProgram.h"

#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

using namespace gist;

using Kind = GrammarProgram::Kind;
using Node = GrammarProgram::Node;
using NodeId = GrammarProgram::NodeId;
using ByteSet = std::bitset<256>;

//===----------------------------------------------------------------------===//
// From expressions to nodes
//===----------------------------------------------------------------------===//

namespace {
/// Bytes from `first` to `last` at each place of a character.
struct ByteRanges {
  uint32_t count = 0;
  std::array<std::pair<uint8_t, uint8_t>, 4> bytes = {};
};

/// Makes nodes from the back to the front: each knows what follows it.
class Compiler {
public:
  Compiler(const Grammar &grammar, GrammarProgram &program)
      : grammar(grammar), program(program) {}

  Status compile(bool leadingSpace);

private:
  NodeId add(Node node);
  NodeId addByte(const ByteSet &set, NodeId next);
  NodeId addRange(uint8_t first, uint8_t last, NodeId next);
  NodeId addSplit(NodeId a, NodeId b) {
    return add({.kind = Kind::Split, .next = a, .other = b});
  }
  NodeId addChars(const std::vector<CharRange> &ranges, NodeId next);
  NodeId addRepeat(const Grammar::Expression &repeat, NodeId next);
  NodeId addExpression(Grammar::Id id, NodeId next);
  uint16_t numberOf(const ByteSet &set);
  void makeClasses();

  const Grammar &grammar;
  GrammarProgram &program;
  std::unordered_map<ByteSet, uint16_t> numbers;
  std::vector<ByteSet> sets;
  NodeId nothing = 0; ///< takes no byte: a way that does not go on
  bool isFull = false;
};
} // namespace

NodeId Compiler::add(Node node) {
  if (program.nodes.size() >= GrammarProgram::kMaxNodes) {
    isFull = true;
    return 0;
  }
  program.nodes.push_back(node);
  return static_cast<NodeId>(program.nodes.size() - 1);
}

uint16_t Compiler::numberOf(const ByteSet &set) {
  if (auto at = numbers.find(set); at != numbers.end())
    return at->second;
  if (sets.size() >= GrammarProgram::kMaxByteSets) {
    isFull = true;
    return 0;
  }
  auto number = static_cast<uint16_t>(sets.size());
  sets.push_back(set);
  numbers.emplace(set, number);
  return number;
}

NodeId Compiler::addByte(const ByteSet &set, NodeId next) {
  return add({.kind = Kind::Byte, .set = numberOf(set), .next = next});
}

NodeId Compiler::addRange(uint8_t first, uint8_t last, NodeId next) {
  ByteSet set;
  for (unsigned byte = first; byte <= last; ++byte)
    set.set(byte);
  return addByte(set, next);
}

/// Cuts a range of code points into ranges whose characters have the same
/// number of bytes, each from one byte to another.
static void cutRange(uint32_t first, uint32_t last,
                     std::vector<ByteRanges> &result) {
  // The last code points of 1, 2, 3 and 4 bytes; surrogates are no characters.
  static constexpr CharRange kLengths[] = {{0, 0x7F},
                                           {0x80, 0x7FF},
                                           {0x800, 0xD7FF},
                                           {0xE000, 0xFFFF},
                                           {0x10000, kMaxCodePoint}};
  static constexpr uint32_t kBytes[] = {1, 2, 3, 3, 4};
  static constexpr uint8_t kLeads[] = {0, 0, 0xC0, 0xE0, 0xF0};
  std::vector<CharRange> open;
  for (size_t i = 0; i < std::size(kLengths); ++i) {
    CharRange length = kLengths[i];
    if (last < length.first || first > length.last)
      continue;
    open.push_back(
        {std::max(first, length.first), std::min(last, length.last)});
    while (!open.empty()) {
      CharRange range = open.back();
      open.pop_back();
      // Where a leading byte differs, the bytes after it must be all of them.
      bool isCut = false;
      for (uint32_t tail = 1; tail < kBytes[i] && !isCut; ++tail) {
        uint32_t mask = (1u << (6 * tail)) - 1;
        if ((range.first & ~mask) == (range.last & ~mask))
          continue;
        uint32_t cut = 0;
        if ((range.first & mask) != 0)
          cut = (range.first | mask) + 1;
        else if ((range.last & mask) != mask)
          cut = range.last & ~mask;
        else
          continue;
        open.push_back({cut, range.last});
        open.push_back({range.first, cut - 1});
        isCut = true;
      }
      if (isCut)
        continue;
      ByteRanges bytes{.count = kBytes[i]};
      for (uint32_t at = 0; at < bytes.count; ++at) {
        uint32_t shift = 6 * (bytes.count - 1 - at);
        uint32_t lead = at == 0 ? kLeads[bytes.count] : 0x80;
        uint32_t bits = at == 0 ? 0xFF : 0x3F;
        bytes.bytes[at] = {
            static_cast<uint8_t>(lead | (range.first >> shift & bits)),
            static_cast<uint8_t>(lead | (range.last >> shift & bits))};
      }
      result.push_back(bytes);
    }
  }
}

NodeId Compiler::addChars(const std::vector<CharRange> &ranges, NodeId next) {
  std::vector<ByteRanges> parts;
  for (CharRange range : ranges)
    cutRange(range.first, range.last, parts);
  // Characters of one byte become one node.
  ByteSet single;
  NodeId result = nothing;
  // Nodes of last bytes that are alike are shared.
  std::map<std::tuple<NodeId, uint8_t, uint8_t>, NodeId> tails;
  for (const ByteRanges &part : parts) {
    if (part.count == 1) {
      for (unsigned byte = part.bytes[0].first; byte <= part.bytes[0].second;
           ++byte)
        single.set(byte);
      continue;
    }
    NodeId at = next;
    for (uint32_t i = part.count; i-- > 0;) {
      auto [first, last] = part.bytes[i];
      auto [found, isNew] = tails.try_emplace({at, first, last}, 0);
      if (isNew)
        found->second = addRange(first, last, at);
      at = found->second;
    }
    result = result == nothing ? at : addSplit(at, result);
  }
  if (single.any()) {
    NodeId at = addByte(single, next);
    result = result == nothing ? at : addSplit(at, result);
  }
  return result;
}

NodeId Compiler::addRepeat(const Grammar::Expression &repeat, NodeId next) {
  Grammar::Id part = repeat.parts[0];
  if (repeat.most == 0)
    return next;
  if (repeat.most == 1)
    return repeat.least == 0 ? addSplit(addExpression(part, next), next)
                             : addExpression(part, next);
  if (repeat.most == Grammar::kUnbounded && repeat.least <= 1) {
    NodeId loop = addSplit(next, next);
    NodeId body = addExpression(part, loop);
    program.nodes[loop].next = body;
    return repeat.least == 0 ? loop : body;
  }
  NodeId count = add({.kind = Kind::Count,
                      .least = repeat.least,
                      .most = repeat.most,
                      .next = next});
  NodeId again = add({.kind = Kind::Again, .other = count});
  NodeId body = addExpression(part, again);
  program.nodes[count].other = body;
  return count;
}

/// Recursion: front ends bound how deep expressions are.
NodeId Compiler::addExpression(Grammar::Id id, NodeId next) {
  const Grammar::Expression &expression = grammar[id];
  if (isFull)
    return 0;
  switch (expression.kind) {
  case Grammar::Kind::Literal:
    for (size_t i = expression.text.size(); i-- > 0;) {
      auto byte = static_cast<uint8_t>(expression.text[i]);
      next = addRange(byte, byte, next);
    }
    return next;
  case Grammar::Kind::Chars:
    return addChars(expression.chars, next);
  case Grammar::Kind::Sequence:
    for (size_t i = expression.parts.size(); i-- > 0;)
      next = addExpression(expression.parts[i], next);
    return next;
  case Grammar::Kind::Choice: {
    NodeId result = nothing;
    for (size_t i = expression.parts.size(); i-- > 0;) {
      NodeId part = addExpression(expression.parts[i], next);
      result = result == nothing ? part : addSplit(part, result);
    }
    return result;
  }
  case Grammar::Kind::Repeat:
    return addRepeat(expression, next);
  case Grammar::Kind::Call:
    return add({.kind = Kind::Call,
                .isTail = program.nodes[next].kind == Kind::Return,
                .next = next,
                // The rule's number, until all rules are there.
                .other = expression.rule});
  }
  return nothing;
}

/// Bytes that every set has or has not together become one class.
void Compiler::makeClasses() {
  program.classOf = {};
  program.classCount = 1;
  for (const ByteSet &set : sets) {
    std::map<std::pair<uint8_t, bool>, uint8_t> split;
    std::array<uint8_t, 256> refined = {};
    for (size_t byte = 0; byte < 256; ++byte) {
      auto next = static_cast<uint8_t>(split.size());
      refined[byte] =
          split.try_emplace({program.classOf[byte], set[byte]}, next)
              .first->second;
    }
    program.classOf = refined;
    program.classCount = static_cast<uint32_t>(split.size());
    if (program.classCount == 256)
      break;
  }
  for (const ByteSet &set : sets) {
    std::bitset<256> classes;
    for (size_t byte = 0; byte < 256; ++byte)
      if (set[byte])
        classes.set(program.classOf[byte]);
    program.classSets.push_back(classes);
  }
}

Status Compiler::compile(bool leadingSpace) {
  const std::vector<Grammar::Id> &rules = grammar.ruleExpressions();
  nothing = addByte({}, 0);
  std::vector<NodeId> entries;
  for (Grammar::Id rule : rules) {
    NodeId end = add({.kind = Kind::Return});
    entries.push_back(addExpression(rule, end));
    if (isFull)
      break;
  }
  if (isFull || grammar.isTooLarge())
    return Status::error(Code::BadArgument,
                         "the grammar is too large: it has more than %zu "
                         "steps or %zu kinds of characters",
                         GrammarProgram::kMaxNodes,
                         GrammarProgram::kMaxByteSets);
  for (Node &node : program.nodes)
    if (node.kind == Kind::Call)
      node.other = entries[node.other];
  program.start = entries[grammar.root];
  if (leadingSpace)
    program.start = addSplit(addRange(' ', ' ', program.start), program.start);
  makeClasses();
  return {};
}

//===----------------------------------------------------------------------===//
// What is true of nodes
//===----------------------------------------------------------------------===//

/// For each node, those whose edges lead to it.
static std::vector<std::vector<NodeId>>
findUsers(const std::vector<Node> &nodes) {
  std::vector<std::vector<NodeId>> users(nodes.size());
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Node &node = nodes[id];
    if (node.kind == Kind::Return || node.kind == Kind::Again)
      continue;
    users[node.next].push_back(id);
    if (node.kind != Kind::Byte)
      users[node.other].push_back(id);
  }
  return users;
}

/// What a node needs, from what its edges need; kNever while one that counts
/// is not known.
static uint32_t needOf(const std::vector<Node> &nodes, const Node &node,
                       const GrammarProgram &program) {
  uint32_t next = nodes[node.next].need, other = nodes[node.other].need;
  auto both = [&]() -> uint32_t {
    if (next == GrammarProgram::kNever || other == GrammarProgram::kNever)
      return GrammarProgram::kNever;
    return std::max(next, other + 1);
  };
  switch (node.kind) {
  case Kind::Byte:
    return program.classSets[node.set].none() ? GrammarProgram::kNever : next;
  case Kind::Split:
    return std::min(next, other);
  case Kind::Call:
    return node.isTail ? other : both();
  case Kind::Count:
    return node.least == 0 ? next : both();
  // What follows was looked at when the frame was pushed.
  case Kind::Return:
  case Kind::Again:
    return 0;
  }
  return 0;
}

/// Knuth's generalisation of Dijkstra's algorithm: a node needs at least what
/// its edges do, so the smallest that is known is final.
static void findNeeds(GrammarProgram &program,
                      const std::vector<std::vector<NodeId>> &users) {
  std::vector<Node> &nodes = program.nodes;
  using Entry = std::pair<uint32_t, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    bool isSource =
        nodes[id].kind == Kind::Return || nodes[id].kind == Kind::Again;
    nodes[id].need = isSource ? 0 : GrammarProgram::kNever;
    if (isSource)
      open.emplace(0, id);
  }
  while (!open.empty()) {
    auto [need, id] = open.top();
    open.pop();
    if (nodes[id].need != need)
      continue;
    for (NodeId user : users[id]) {
      uint32_t found = needOf(nodes, nodes[user], program);
      if (found >= nodes[user].need)
        continue;
      nodes[user].need = found;
      open.emplace(found, user);
    }
  }
}

/// Which nodes can come to their rule's end without a byte.
static std::vector<bool>
findEmpty(const std::vector<Node> &nodes,
          const std::vector<std::vector<NodeId>> &users) {
  std::vector<bool> isEmpty(nodes.size());
  std::vector<NodeId> open;
  auto mark = [&](NodeId id) {
    if (isEmpty[id])
      return;
    isEmpty[id] = true;
    open.push_back(id);
  };
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (nodes[id].kind == Kind::Return || nodes[id].kind == Kind::Again)
      mark(id);
  while (!open.empty()) {
    NodeId id = open.back();
    open.pop_back();
    for (NodeId user : users[id]) {
      const Node &node = nodes[user];
      bool next = isEmpty[node.next], other = isEmpty[node.other];
      if ((node.kind == Kind::Split && (next || other)) ||
          (node.kind == Kind::Call && next && other) ||
          (node.kind == Kind::Count && next && (node.least == 0 || other)))
        mark(user);
    }
  }
  return isEmpty;
}

/// The edges that a node goes along without a byte.
static uint32_t freeEdges(const std::vector<Node> &nodes, NodeId id,
                          const std::vector<bool> &isEmpty,
                          std::array<NodeId, 2> &edges) {
  const Node &node = nodes[id];
  uint32_t count = 0;
  bool isCount = node.kind == Kind::Count, isCall = node.kind == Kind::Call;
  bool isSplit = node.kind == Kind::Split;
  if (isCount || isCall || isSplit)
    edges[count++] = node.other;
  if (isSplit || (isCall && isEmpty[node.other]) ||
      (isCount && (node.least == 0 || isEmpty[node.other])))
    edges[count++] = node.next;
  return count;
}

/// Numbers the strongly connected parts of the graph of free edges (Tarjan's
/// algorithm, with a stack of its own).
static std::vector<uint32_t> findParts(const std::vector<Node> &nodes,
                                       const std::vector<bool> &isEmpty) {
  struct Visit {
    NodeId node;
    uint32_t edge;
  };
  std::vector<uint32_t> order(nodes.size()), low(nodes.size());
  std::vector<uint32_t> part(nodes.size());
  std::vector<NodeId> open;
  std::vector<Visit> path;
  uint32_t visited = 0, parts = 0;
  auto enter = [&](NodeId id) {
    order[id] = low[id] = ++visited;
    open.push_back(id);
    path.push_back({id, 0});
  };
  for (NodeId begin = 0; begin < nodes.size(); ++begin) {
    if (order[begin] == 0)
      enter(begin);
    while (!path.empty()) {
      Visit &visit = path.back();
      NodeId id = visit.node;
      std::array<NodeId, 2> edges = {};
      if (visit.edge < freeEdges(nodes, id, isEmpty, edges)) {
        NodeId to = edges[visit.edge++];
        if (order[to] == 0)
          enter(to);
        else if (part[to] == 0)
          low[id] = std::min(low[id], order[to]);
        continue;
      }
      path.pop_back();
      if (!path.empty())
        low[path.back().node] = std::min(low[path.back().node], low[id]);
      if (low[id] != order[id])
        continue;
      ++parts;
      do {
        part[open.back()] = parts;
        NodeId last = open.back();
        open.pop_back();
        if (last == id)
          break;
      } while (true);
    }
  }
  return part;
}

/// Refuses rules that call themselves before they take a byte: a stack of
/// calls would grow without end.
static Status checkLeftRecursion(const std::vector<Node> &nodes,
                                 const std::vector<bool> &isEmpty) {
  std::vector<uint32_t> part = findParts(nodes, isEmpty);
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (nodes[id].kind == Kind::Call && part[id] == part[nodes[id].other])
      return Status::error(Code::BadArgument,
                           "a rule begins with itself, so that it never comes "
                           "to a character");
  return {};
}

Status GrammarProgram::create(const Grammar &grammar, bool leadingSpace,
                              GrammarProgram &result) try {
  GrammarProgram program;
  GIST_TRY(Compiler(grammar, program).compile(leadingSpace));
  std::vector<std::vector<NodeId>> users = findUsers(program.nodes);
  findNeeds(program, users);
  if (program.nodes[program.start].need > kMaxStack)
    return Status::error(Code::BadArgument,
                         "no text of finite length matches the grammar, or "
                         "its rules call one another more than %u deep",
                         kMaxStack);
  GIST_TRY(checkLeftRecursion(program.nodes, findEmpty(program.nodes, users)));
  result = std::move(program);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY
