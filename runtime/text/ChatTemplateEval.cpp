//===- ChatTemplateEval.cpp - Templates evaluated -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the tree of a template and writes the prompt. A template comes from a
// model file and is not trusted: each step, each character and each level of
// calls is counted, and a template that asks for too much fails with a message.
//
// An error ends the whole rendering. Scopes that are open at that moment are
// therefore not closed one by one.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateEval.h"
#include "runtime/text/ChatTemplate.h"

#include <algorithm>
#include <ctime>
#include <unordered_map>
#include <utility>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

/// Macros call each other no deeper.
static constexpr int kMaxCalls = 20;
/// As in the reference's sandbox.
/// Without it a template of a few bytes could ask for a list of any size.
static constexpr int64_t kMaxRange = 100000;

Interpreter::Interpreter(std::string_view source, const Value &context)
    : source(source) {
  Scope globals;
  for (const char *name :
       {"namespace", "raise_exception", "range", "dict", "strftime_now"})
    globals.emplace(name, Value::function(name));
  // The context comes second: a caller's variable may hide a function.
  for (const auto &[key, value] : context.entries())
    // Values share what they hold, so that this copies no messages.
    globals.insert_or_assign(key, value);
  scopes.push_back(std::move(globals));
}

Status Interpreter::run(const Block &block, std::string &out) {
  // `out` changes only when all went well.
  std::string text;
  output = &text;
  Flow flow = Flow::Normal;
  GIST_TRY(runBlock(block, flow));
  out = std::move(text);
  return {};
}

Value Interpreter::lookUp(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto it = scope->find(name); it != scope->end())
      return it->second;
  return Value::undefined(name);
}

Status Interpreter::placed(Status status, uint32_t offset) const {
  // The place is looked for only where there is an error: lines are counted
  // from the start of the template.
  return status.ok() ? Status()
                     : std::move(status).in(positionText(source, offset));
}

Status Interpreter::write(std::string_view text) {
  // write() never lets the output grow beyond the limit, so the difference does
  // not wrap.
  if (text.size() > ChatTemplate::kMaxOutput - output->size())
    return Status::error(Code::BadArgument,
                         "the prompt has more than %zu bytes",
                         ChatTemplate::kMaxOutput);
  *output += text;
  return {};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Stops behind `break` and `continue` and hands them on in `flow`, to the loop
/// around.
Status Interpreter::runBlock(const Block &block, Flow &flow) {
  for (const auto &stmt : block) {
    GIST_TRY(budget.charge(1));
    GIST_TRY(runStmt(*stmt, flow));
    if (flow != Flow::Normal)
      break;
  }
  return {};
}

Status Interpreter::runStmt(const Stmt &stmt, Flow &flow) {
  Value value;
  switch (stmt.kind) {
  case Stmt::Kind::Text:
    GIST_TRY(budget.charge(stmt.text.size() / 16));
    return write(stmt.text);
  case Stmt::Kind::Print:
    GIST_TRY(eval(*stmt.exprs[0], value));
    GIST_TRY(budget.chargeText(value));
    return write(toText(value));
  case Stmt::Kind::If:
    // Each condition guards the block of the same index. An `else` is one more
    // block than there are conditions.
    for (size_t i = 0; i < stmt.blocks.size(); ++i) {
      // Conditions after the one that holds are not evaluated: they may fail.
      if (i < stmt.exprs.size())
        GIST_TRY(eval(*stmt.exprs[i], value));
      if (i == stmt.exprs.size() || value.isTrue())
        return runBlock(stmt.blocks[i], flow);
    }
    return {};
  case Stmt::Kind::For:
    return runFor(stmt, flow);
  case Stmt::Kind::Set:
    return runSet(stmt);
  case Stmt::Kind::SetBlock:
    return runSetBlock(stmt);
  case Stmt::Kind::Macro:
    // The value points into the tree, which outlives the interpreter.
    value = Value::function(stmt.text);
    value.macro = &stmt;
    scopes.back().insert_or_assign(stmt.text, std::move(value));
    return {};
  case Stmt::Kind::Scope:
    scopes.emplace_back();
    GIST_TRY(runBlock(stmt.blocks[0], flow));
    scopes.pop_back();
    return {};
  case Stmt::Kind::Break:
    flow = Flow::Break;
    return {};
  case Stmt::Kind::Continue:
    flow = Flow::Continue;
    return {};
  }
  return {};
}

/// Gives the names of a loop or an assignment their parts of a value.
Status Interpreter::bind(const Stmt &stmt, const Value &item) {
  if (stmt.names.size() == 1) {
    scopes.back().insert_or_assign(stmt.names[0], item);
    return {};
  }
  List parts;
  GIST_TRY(iterate(item, budget, parts));
  if (parts.size() != stmt.names.size())
    return Status::error(Code::BadArgument,
                         "%zu values cannot be assigned to %zu names",
                         parts.size(), stmt.names.size());
  for (size_t i = 0; i < parts.size(); ++i)
    scopes.back().insert_or_assign(stmt.names[i], std::move(parts[i]));
  return {};
}

/// The variable `loop`.
/// `previtem` and `nextitem` are undefined at the two ends, as in Jinja.
static Status loopValue(const List &items, size_t i, Value &out) {
  int64_t index = static_cast<int64_t>(i);
  int64_t size = static_cast<int64_t>(items.size());
  bool first = i == 0, last = i + 1 == items.size();
  return Value::dict(
      {{"index", Value::fromInt(index + 1)},
       {"index0", Value::fromInt(index)},
       {"revindex", Value::fromInt(size - index)},
       {"revindex0", Value::fromInt(size - index - 1)},
       {"first", Value::boolean(first)},
       {"last", Value::boolean(last)},
       {"length", Value::fromInt(size)},
       {"previtem", first ? Value::undefined("previtem") : items[i - 1]},
       {"nextitem", last ? Value::undefined("nextitem") : items[i + 1]}},
      out);
}

Status Interpreter::runFor(const Stmt &stmt, Flow &flow) {
  Value value;
  GIST_TRY(eval(*stmt.exprs[0], value));
  List items;
  // Errors of the loop itself are placed at the tag. Errors of its body already
  // name their own place.
  auto at = [&](Status status) {
    return placed(std::move(status), stmt.offset);
  };
  GIST_TRY(at(iterate(value, budget, items)));
  // `for x in y if z`: the filter runs first, so that loop.length counts what
  // is left.
  if (stmt.exprs[1]) {
    List kept;
    for (const Value &item : items) {
      scopes.emplace_back();
      GIST_TRY(at(bind(stmt, item)));
      GIST_TRY(eval(*stmt.exprs[1], value));
      scopes.pop_back();
      if (value.isTrue())
        kept.push_back(item);
    }
    items = std::move(kept);
  }
  // `else` runs when nothing was left to loop over, not after a loop.
  if (items.empty() && stmt.blocks.size() > 1)
    return runBlock(stmt.blocks[1], flow);
  for (size_t i = 0; i < items.size(); ++i) {
    GIST_TRY(budget.charge(8)); // About what making `loop` costs.
    Value loop;
    GIST_TRY(at(loopValue(items, i, loop)));
    // Each round has its own scope. What `set` writes inside a loop is gone
    // after it, as in Jinja; templates use a namespace to carry values out.
    scopes.emplace_back();
    scopes.back().insert_or_assign("loop", std::move(loop));
    GIST_TRY(at(bind(stmt, items[i])));
    Flow inner = Flow::Normal;
    GIST_TRY(runBlock(stmt.blocks[0], inner));
    scopes.pop_back();
    if (inner == Flow::Break)
      break;
  }
  return {};
}

/// {% set a = … %} binds names in the innermost scope. {% set a.b = … %}
/// changes the namespace `a` wherever it was made; nothing else can be changed.
Status Interpreter::assign(const Stmt &stmt, const Value &value) {
  if (stmt.text.empty())
    return bind(stmt, value);
  // A copy of the value shares its box with the variable, so that writing below
  // changes the namespace itself.
  Value target = lookUp(stmt.names[0]);
  if (!target.is(Kind::Namespace))
    return Status::error(Code::BadArgument, "'%s' is not a namespace",
                         stmt.names[0].c_str());
  // A namespace inside another value could come to hold itself. Values are
  // shared by counted pointers, and such a cycle would never be freed.
  if (value.is(Kind::Namespace))
    return Status::error(Code::Unsupported,
                         "a namespace cannot be inside another value");
  Dict &entries = target.box->entries;
  GIST_TRY(budget.charge(entries.size() / 16));
  auto it = std::find_if(entries.begin(), entries.end(),
                         [&](auto &entry) { return entry.first == stmt.text; });
  if (it == entries.end())
    entries.emplace_back(stmt.text, value);
  else
    it->second = value;
  return {};
}

Status Interpreter::runSet(const Stmt &stmt) {
  Value value;
  GIST_TRY(eval(*stmt.exprs[0], value));
  return placed(assign(stmt, value), stmt.offset);
}

/// {% set a %} … {% endset %}: the block writes to a text of its own.
Status Interpreter::runSetBlock(const Stmt &stmt) {
  std::string text, *outer = std::exchange(output, &text);
  scopes.emplace_back();
  Flow flow = Flow::Normal;
  Status status = runBlock(stmt.blocks[0], flow);
  scopes.pop_back();
  output = outer;
  GIST_TRY(std::move(status));
  Value value = Value::string(std::move(text));
  if (stmt.exprs[0]) {
    // The filters' innermost operand is a name that no template can write.
    scopes.emplace_back();
    scopes.back().insert_or_assign("", value);
    GIST_TRY(eval(*stmt.exprs[0], value));
    scopes.pop_back();
  }
  return placed(assign(stmt, value), stmt.offset);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Marks errors that already say where they happened.
static constexpr std::string_view kPlaced = "line ";

/// Adds the place of the innermost expression that failed, and only that one.
Status Interpreter::eval(const Expr &expr, Value &out) {
  GIST_TRY(budget.charge(1));
  Status status = evalKind(expr, out);
  // An outer expression would otherwise put its own place in front.
  if (status.text.starts_with(kPlaced))
    return status;
  return placed(std::move(status), expr.offset);
}

Status Interpreter::evalKind(const Expr &expr, Value &out) {
  Value left, right;
  switch (expr.kind) {
  case Expr::Kind::Literal:
    out = expr.value;
    return {};
  case Expr::Kind::Name:
    out = lookUp(expr.text);
    return {};
  case Expr::Kind::List: {
    List items(expr.args.size());
    for (size_t i = 0; i < items.size(); ++i)
      GIST_TRY(eval(*expr.args[i], items[i]));
    GIST_TRY(Value::list(std::move(items), out));
    // The list was made just now, so nothing else sees it change.
    out.box->isTuple = expr.text == "tuple";
    return {};
  }
  case Expr::Kind::Dict:
    return evalDict(expr, out);
  case Expr::Kind::Attribute:
    return evalAttribute(expr, out);
  case Expr::Kind::Index:
    GIST_TRY(eval(*expr.args[0], left));
    GIST_TRY(eval(*expr.args[1], right));
    return getItem(left, right, budget, out);
  case Expr::Kind::Slice:
    return evalSlice(expr, out);
  case Expr::Kind::Call:
    return evalCall(expr, out);
  case Expr::Kind::Filter: {
    Arguments args;
    GIST_TRY(eval(*expr.args[0], left));
    GIST_TRY(evalArguments(expr, args));
    return callFilter(expr.text, left, args, budget, out);
  }
  case Expr::Kind::Test: {
    Arguments args;
    bool result = false;
    GIST_TRY(eval(*expr.args[0], left));
    GIST_TRY(evalArguments(expr, args));
    GIST_TRY(callTest(expr.text, left, args, budget, result));
    out = Value::boolean(result);
    return {};
  }
  case Expr::Kind::Not:
    GIST_TRY(eval(*expr.args[0], left));
    out = Value::boolean(!left.isTrue());
    return {};
  case Expr::Kind::Negate:
  case Expr::Kind::Plus: {
    GIST_TRY(eval(*expr.args[0], left));
    // -INT64_MIN has no 64-bit value.
    if (!left.isNumber() || left.integer == INT64_MIN)
      return Status::error(Code::BadArgument, "cannot negate %s",
                           left.kindName());
    int sign = expr.kind == Expr::Kind::Plus ? 1 : -1;
    out = left.is(Kind::Float) ? Value::fromFloat(sign * left.number)
                               : Value::fromInt(sign * left.integer);
    return {};
  }
  case Expr::Kind::And:
  case Expr::Kind::Or:
    // The result is the operand itself, as in Python, not a boolean.
    GIST_TRY(eval(*expr.args[0], out));
    if (out.isTrue() == (expr.kind == Expr::Kind::And))
      return eval(*expr.args[1], out);
    return {};
  case Expr::Kind::Binary:
    return evalBinary(expr, out);
  case Expr::Kind::Compare:
    return evalCompare(expr, out);
  case Expr::Kind::Conditional:
    GIST_TRY(eval(*expr.args[1], left));
    if (left.isTrue())
      return eval(*expr.args[0], out);
    if (expr.args[2])
      return eval(*expr.args[2], out);
    // `a if b` without `else` gives undefined, which prints as nothing.
    out = Value::undefined("the other case of 'if'");
    return {};
  }
  return {};
}

namespace {
/// Entries in the order of their keys' first appearance. Of two equal keys the
/// last value counts, as in Python.
class DictBuilder {
public:
  void set(const std::string &key, Value value) {
    auto [place, isNew] = places.try_emplace(key, entries.size());
    if (isNew)
      entries.emplace_back(key, std::move(value));
    else
      entries[place->second].second = std::move(value);
  }
  Dict take() { return std::move(entries); }

private:
  Dict entries;
  std::unordered_map<std::string, size_t> places;
};
} // namespace

Status Interpreter::evalDict(const Expr &expr, Value &out) {
  DictBuilder entries;
  for (size_t i = 0; i < expr.args.size(); i += 2) {
    Value key, value;
    GIST_TRY(eval(*expr.args[i], key));
    GIST_TRY(eval(*expr.args[i + 1], value));
    if (!key.is(Kind::String))
      return Status::error(
          Code::Unsupported,
          "a dictionary's key is %s; only strings are supported",
          key.kindName());
    entries.set(key.str(), std::move(value));
  }
  return Value::dict(entries.take(), out);
}

/// Methods come before entries: `message.items` is the method even where a
/// message has an entry of that name.
Status Interpreter::evalAttribute(const Expr &expr, Value &out) {
  Value object;
  GIST_TRY(eval(*expr.args[0], object));
  if (hasMethod(object, expr.text)) {
    out = Value::function(expr.text);
    return {};
  }
  return getItem(object, Value::string(expr.text), budget, out);
}

/// The operands are the container and three bounds; a bound that is left out
/// arrives as none, not as zero.
Status Interpreter::evalSlice(const Expr &expr, Value &out) {
  Value parts[4];
  for (int i = 0; i < 4; ++i) {
    parts[i] = Value::none();
    if (expr.args[i])
      GIST_TRY(eval(*expr.args[i], parts[i]));
  }
  return slice(parts[0], parts[1], parts[2], parts[3], budget, out);
}

Status Interpreter::evalArguments(const Expr &expr, Arguments &args) {
  for (size_t i = 1; i < expr.args.size(); ++i) {
    Value value;
    GIST_TRY(eval(*expr.args[i], value));
    const std::string &name = expr.names[i - 1];
    if (name.empty())
      args.positional.push_back(std::move(value));
    else
      args.named.emplace_back(name, std::move(value));
  }
  return {};
}

static Status makeRange(const Arguments &args, Value &out) {
  int64_t bounds[3] = {0, 0, 1};
  size_t count = args.positional.size();
  for (const Value &value : args.positional)
    // The bound keeps `i += step` below from overflowing. Two comparisons:
    // the smallest integer has no absolute value.
    if (!value.is(Kind::Int) || value.integer > (int64_t{1} << 40) ||
        value.integer < -(int64_t{1} << 40))
      return Status::error(Code::BadArgument, "range takes integers; found %s",
                           value.kindName());
  if (count < 1 || count > 3)
    return Status::error(Code::BadArgument,
                         "range takes 1 to 3 numbers; found %zu", count);
  // One number is the end. Two or three are start, end and step.
  bounds[1] = args.positional[0].integer;
  if (count > 1)
    for (size_t i = 0; i < count; ++i)
      bounds[i] = args.positional[i].integer;
  auto [start, stop, step] = bounds;
  if (step == 0)
    return Status::error(Code::BadArgument, "the step of a range is zero");
  List items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (items.size() == kMaxRange)
      return Status::error(Code::BadArgument,
                           "a range has more than %d numbers",
                           static_cast<int>(kMaxRange));
    items.push_back(Value::fromInt(i));
  }
  return Value::list(std::move(items), out);
}

/// strftime_now(format): the date, for templates that tell it to the model.
static Status formatNow(const Arguments &args, Value &out) {
  if (args.positional.size() != 1 || !args.positional[0].is(Kind::String))
    return Status::error(Code::BadArgument, "strftime_now needs a format");
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char buffer[256];
  size_t size = std::strftime(buffer, sizeof(buffer),
                              args.positional[0].str().c_str(), &parts);
  out = Value::string(std::string(buffer, size));
  return {};
}

/// The functions that are names, not methods. What is left at the end is
/// `namespace` and `dict`, which take the same arguments.
static Status callGlobal(const std::string &name, const Arguments &args,
                         Value &out) {
  if (name == "range")
    return makeRange(args, out);
  if (name == "strftime_now")
    return formatNow(args, out);
  if (name == "raise_exception")
    return Status::error(
        Code::BadArgument, "the template says: %s",
        args.positional.empty() ? "" : toText(args.positional[0]).c_str());
  DictBuilder entries;
  if (!args.positional.empty() && args.positional[0].is(Kind::Dict))
    for (const auto &[key, value] : args.positional[0].entries())
      entries.set(key, value);
  for (const auto &[key, value] : args.named)
    entries.set(key, value);
  return name == "namespace" ? Value::nameSpace(entries.take(), out)
                             : Value::dict(entries.take(), out);
}

Status Interpreter::evalCall(const Expr &expr, Value &out) {
  const Expr &callee = *expr.args[0];
  Arguments args;
  Value function;
  // a.b(…): the method is called on the object directly. A value of kind
  // Function has no room for the object it belongs to.
  if (callee.kind == Expr::Kind::Attribute) {
    Value object;
    GIST_TRY(eval(*callee.args[0], object));
    GIST_TRY(evalArguments(expr, args));
    // getItem gives the error that names the undefined variable.
    if (object.is(Kind::Undefined))
      return getItem(object, Value::string(callee.text), budget, out);
    return callMethod(object, callee.text, args, budget, out);
  }
  GIST_TRY(eval(callee, function));
  GIST_TRY(evalArguments(expr, args));
  if (!function.is(Kind::Function))
    return Status::error(Code::BadArgument, "'%s' is not a function",
                         function.is(Kind::Undefined)
                             ? function.str().c_str()
                             : toText(function).c_str());
  if (function.macro)
    return callMacro(*function.macro, args, out);
  GIST_TRY(callGlobal(function.str(), args, out));
  return budget.charge(out);
}

/// Arguments without a value get the default, or are undefined. A macro gives
/// back the text it wrote.
Status Interpreter::callMacro(const Stmt &macro, const Arguments &args,
                              Value &out) {
  if (depth >= kMaxCalls)
    return Status::error(Code::BadArgument,
                         "macros call each other more than "
                         "%d deep",
                         kMaxCalls);
  if (args.positional.size() > macro.names.size())
    return Status::error(Code::BadArgument,
                         "macro '%s' takes at most %zu arguments",
                         macro.text.c_str(), macro.names.size());
  // A macro sees the template's own variables and its arguments.
  // Variables of the caller's loops and blocks are hidden from it.
  Scope scope;
  auto bind = [&]() -> Status {
    for (size_t i = 0; i < macro.names.size(); ++i) {
      const Value *given = args.get(i, macro.names[i]);
      Value value = given ? *given : Value::undefined(macro.names[i]);
      if (!given && macro.exprs[i])
        GIST_TRY(eval(*macro.exprs[i], value));
      scope.insert_or_assign(macro.names[i], std::move(value));
    }
    return {};
  };
  // Arguments with a name are looked for one by one.
  GIST_TRY(budget.charge(macro.names.size() * (4 + args.named.size() / 16)));
  // Defaults belong to the call: one may call the macro again.
  ++depth;
  Status bound = bind();
  --depth;
  GIST_TRY(bound);
  // The global scope is moved, not copied, because a macro may change what it
  // sees there and because it may be large.
  std::vector<Scope> inner;
  inner.push_back(std::move(scopes.front()));
  inner.push_back(std::move(scope));
  std::swap(scopes, inner);
  std::string text, *outer = std::exchange(output, &text);
  ++depth;
  Flow flow = Flow::Normal;
  Status status = runBlock(macro.blocks[0], flow);
  --depth;
  output = outer;
  std::swap(scopes, inner);
  scopes.front() = std::move(inner.front());
  out = Value::string(std::move(text));
  return status;
}
