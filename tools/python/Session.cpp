//===- Session.cpp - Sessions and their streams, for Python ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gist/_session.py shows to people. Work is done without the GIL and with
// the session's own lock, so threads of Python may share a session: they wait
// for one another.
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonSchema.h"
#include "runtime/session/CheckTokens.h"
#include "tools/python/Errors.h"
#include "tools/python/Model.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

using namespace gist;
using namespace gist::python;

namespace nb = nanobind;

namespace {
/// What a session is made of. Arrays that look into its memory keep it.
struct State {
  // Destroyed last: the session's memory is on it.
  std::unique_ptr<Device> device;
  Model model;
  std::unique_ptr<Session> session;
  std::unique_ptr<Conversation> conversation;
  std::shared_ptr<Drafter> drafter;      ///< null: none
  std::shared_ptr<const TokenTrie> trie; ///< made for the first grammar
  std::mutex mutex;
  // What it was made with.
  std::string kind;
  DeviceOptions deviceOptions;
  SessionOptions options;

  Status open() {
    GIST_TRY(openDevice(kind, deviceOptions, device));
    GIST_TRY(Session::create(model.module, *device, options, session));
    conversation = std::make_unique<Conversation>(*session);
    return {};
  }
};

/// A session of Python. Closed, it has no state.
struct SessionHandle {
  std::shared_ptr<State> state;
};

/// A stream is of its session as long as that is busy with it.
struct StreamHandle {
  std::shared_ptr<State> state;
  std::shared_ptr<const TokenStream> stream;
};
} // namespace

/// Held during a call: another thread may close the session meanwhile.
static std::shared_ptr<State> needState(const SessionHandle &handle) {
  if (!handle.state)
    check(Status::error(Code::BadArgument, "the session is closed"));
  return handle.state;
}

/// Runs `body`, which returns a Status, alone on the session.
template <typename Body> static void work(State &state, Body &&body) {
  Status status;
  {
    nb::gil_scoped_release release;
    std::lock_guard<std::mutex> lock(state.mutex);
    status = body();
  }
  check(status);
}

static SessionHandle openSession(const Model &model, const std::string &kind,
                                 unsigned threads, int64_t context,
                                 int64_t chunk, const nb::bytes &library,
                                 int index) {
  auto state = std::make_shared<State>();
  state->model = model;
  state->kind = kind;
  state->deviceOptions = {
      .threads = threads, .index = index, .library = getString(library)};
  state->options.context = context;
  state->options.chunk = chunk;
  state->options.trust = model.isTrusted;
  work(*state, [&] { return state->open(); });
  return {std::move(state)};
}

/// Another session that has seen the same.
static SessionHandle forkSession(const SessionHandle &handle) {
  std::shared_ptr<State> from = needState(handle);
  auto state = std::make_shared<State>();
  state->model = from->model;
  state->kind = from->kind;
  state->deviceOptions = from->deviceOptions;
  state->options = from->options;
  work(*from, [&]() -> Status {
    GIST_TRY(state->open());
    return state->conversation->takeOver(*from->conversation);
  });
  return {std::move(state)};
}

static void saveSession(const SessionHandle &handle, const nb::bytes &path) {
  std::shared_ptr<State> state = needState(handle);
  std::string name = getString(path);
  work(*state, [&] { return state->conversation->save(name); });
}

static void loadSession(const SessionHandle &handle, const nb::bytes &path) {
  std::shared_ptr<State> state = needState(handle);
  std::string name = getString(path);
  work(*state, [&] { return state->conversation->load(name); });
}

/// In the order of OPTIONS in gist/_options.py.
using OptionValues =
    std::tuple<int64_t, float, uint32_t, float, float, uint64_t, float,
               uint32_t, float, float, std::vector<std::pair<int32_t, float>>,
               int64_t, std::vector<nb::bytes>, std::vector<int32_t>, bool,
               bool, nb::bytes, nb::bytes>;

/// Grammars are read without the session: a mistake ends nothing.
static void readGrammar(const nb::bytes &schema, const nb::bytes &grammar,
                        State &state, GenerateOptions &options) {
  if (schema.size() == 0 && grammar.size() == 0)
    return;
  if (schema.size() != 0 && grammar.size() != 0)
    check(Status::error(Code::BadArgument,
                        "both 'schema' and 'grammar' are given; expected one"));
  auto made = std::make_shared<Grammar>();
  check(schema.size() != 0 ? parseJsonSchema(getString(schema), *made)
                           : parseGrammar(getString(grammar), *made));
  const Tokenizer &tokenizer = state.model.needTokenizer();
  work(state, [&]() -> Status {
    if (!state.trie)
      state.trie = std::make_shared<const TokenTrie>(tokenizer);
    options.trie = state.trie;
    return {};
  });
  options.grammar = std::move(made);
}

static GenerateOptions readOptions(const OptionValues &values, State &state) {
  GenerateOptions options;
  nb::bytes schema, grammar;
  std::vector<nb::bytes> stops;
  std::vector<std::pair<int32_t, float>> biases;
  std::tie(options.maxTokens, options.sampler.temperature, options.sampler.topK,
           options.sampler.topP, options.sampler.minP, options.sampler.seed,
           options.sampler.repeatPenalty, options.sampler.repeatWindow,
           options.sampler.presencePenalty, options.sampler.frequencyPenalty,
           biases, options.sampler.minTokens, stops, options.stopTokens,
           options.ignoreEnd, options.showSpecial, schema, grammar) = values;
  for (const auto &[token, bias] : biases)
    options.sampler.biases.push_back({token, bias});
  readGrammar(schema, grammar, state, options);
  for (const nb::bytes &stop : stops)
    options.stops.push_back(getString(stop));
  options.feedLast = true;
  return options;
}

/// A stream that `start` begins, which gets the state, the tokenizer and the
/// options.
template <typename Start>
static StreamHandle beginStream(const SessionHandle &handle,
                                const OptionValues &values, Start start) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  const Tokenizer &tokenizer = state.model.needTokenizer();
  GenerateOptions options = readOptions(values, state);
  options.drafter = state.drafter;
  StreamHandle result{kept, nullptr};
  work(state, [&]() -> Status {
    GIST_TRY(start(state, tokenizer, options));
    result.stream = state.conversation->stream();
    return {};
  });
  return result;
}

static StreamHandle begin(const SessionHandle &handle, const nb::bytes &prompt,
                          const OptionValues &values) {
  std::string text = getString(prompt);
  return beginStream(
      handle, values,
      [&](State &state, const Tokenizer &tokenizer,
          const GenerateOptions &options) -> Status {
        // A stream before this one ends now, so that the position is right.
        GIST_TRY(state.conversation->end());
        // A text begins once.
        std::vector<int32_t> tokens;
        tokenizer.encode(text, tokens,
                         {.addSpecial = state.session->position() == 0});
        return state.conversation->begin(tokenizer, tokens, options);
      });
}

static StreamHandle beginTokens(const SessionHandle &handle,
                                const TokensIn &prompt,
                                const OptionValues &values) {
  return beginStream(handle, values,
                     [&](State &state, const Tokenizer &tokenizer,
                         const GenerateOptions &options) {
                       return state.conversation->begin(
                           tokenizer, getSpan(prompt), options);
                     });
}

static StreamHandle beginChat(const SessionHandle &handle,
                              const Messages &messages,
                              const OptionValues &values) {
  std::vector<ChatMessage> conversation = readMessages(messages);
  return beginStream(handle, values,
                     [&](State &state, const Tokenizer &tokenizer,
                         const GenerateOptions &options) -> Status {
                       if (conversation.empty())
                         return Status::error(Code::BadArgument,
                                              "the conversation is empty");
                       return state.conversation->beginAnswer(
                           tokenizer, conversation, options);
                     });
}

/// The next token and its text; none at the end. A stream that the session left
/// for something else has ended.
static std::optional<std::pair<int32_t, nb::str>>
nextPiece(const StreamHandle &handle) {
  std::optional<TokenPiece> piece;
  work(*handle.state, [&]() -> Status {
    Conversation &conversation = *handle.state->conversation;
    if (conversation.stream() != handle.stream)
      return {};
    return conversation.next(piece);
  });
  if (!piece)
    return std::nullopt;
  return std::make_pair(piece->token, makeText(piece->text));
}

static void endStream(const StreamHandle &handle) {
  work(*handle.state, [&]() -> Status {
    Conversation &conversation = *handle.state->conversation;
    if (conversation.stream() != handle.stream)
      return {};
    return conversation.end();
  });
}

/// Text, tokens, number of the FinishReason, tokens of the prompt, and seconds
/// for the prompt and for the rest.
static nb::tuple getResult(const StreamHandle &handle) {
  GenerateResult result;
  bool isFinished = false;
  work(*handle.state, [&]() -> Status {
    result = handle.stream->result();
    isFinished = handle.stream->isFinished();
    return {};
  });
  size_t count = result.tokens.size();
  constexpr double kNanoseconds = 1e-9;
  return nb::make_tuple(
      makeText(result.text),
      TokensOut(moveToArray(std::move(result.tokens), {count})),
      isFinished ? static_cast<int>(result.reason) : -1, result.promptTokens,
      static_cast<double>(result.promptNanoseconds) * kNanoseconds,
      static_cast<double>(result.decodeNanoseconds) * kNanoseconds);
}

static void feed(const SessionHandle &handle, const TokensIn &tokens) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  work(state, [&] { return state.conversation->feed(getSpan(tokens)); });
}

/// The logits after the last token, where they are; a copy where they do not
/// stay there. None if none were computed.
static nb::object getLogits(const SessionHandle &handle) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  std::span<const float> logits;
  bool stays = false;
  std::vector<float> copy;
  work(state, [&]() -> Status {
    logits = state.session->logits();
    stays = state.session->keepsLogits();
    if (!stays)
      copy.assign(logits.begin(), logits.end());
    return {};
  });
  if (logits.empty())
    return nb::none();
  if (!stays) {
    size_t count = copy.size();
    return nb::cast(moveToArray(std::move(copy), {count}));
  }
  auto *held = new std::shared_ptr<State>(kept);
  nb::capsule owner(held, [](void *pointer) noexcept {
    delete static_cast<std::shared_ptr<State> *>(pointer);
  });
  return nb::cast(nb::ndarray<nb::numpy, const float, nb::ndim<1>>(
      logits.data(), {logits.size()}, owner));
}

/// Logits after each token.
static FloatsOut logitsAfter(const SessionHandle &handle,
                             const TokensIn &tokens) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  auto vocab = static_cast<size_t>(state.model.module->spec().model.vocabSize);
  std::vector<float> rows;
  work(state, [&]() -> Status {
    // More than fit are refused below, before anything is written.
    if (tokens.size() <= static_cast<size_t>(state.session->capacity()))
      rows.resize(tokens.size() * vocab);
    return state.conversation->score(
        getSpan(tokens), [&](size_t index, std::span<const float> logits) {
          std::copy(logits.begin(), logits.end(),
                    rows.begin() + static_cast<ptrdiff_t>(index * vocab));
          return Status();
        });
  });
  return moveToArray(std::move(rows), {tokens.size(), vocab});
}

/// Minus the logarithm of the probability of `token`.
static float getLoss(std::span<const float> logits, int32_t token) {
  double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(logit - largest);
  return static_cast<float>(std::log(sum) + largest -
                            logits[static_cast<size_t>(token)]);
}

/// Losses of each target after its token. Modules have an entry for it, or
/// their logits are looked at.
static Status findLosses(State &state, std::span<const int32_t> tokens,
                         std::span<const int32_t> targets,
                         std::vector<float> &values) {
  if (state.session->hasEntry(kEntryNll))
    return state.conversation->nll(
        tokens, targets, [&](size_t first, std::span<const float> some) {
          std::copy(some.begin(), some.end(),
                    values.begin() + static_cast<ptrdiff_t>(first));
          return Status();
        });
  GIST_TRY(checkTokens(targets, state.model.module->spec().model.vocabSize));
  return state.conversation->score(
      tokens, [&](size_t index, std::span<const float> logits) {
        values[index] = getLoss(logits, targets[index]);
        return Status();
      });
}

static FloatsOut losses(const SessionHandle &handle, const TokensIn &tokens,
                        const TokensIn &targets) {
  std::shared_ptr<State> kept = needState(handle);
  if (tokens.size() != targets.size())
    check(
        Status::error(Code::BadArgument, "expected as many targets as tokens"));
  std::vector<float> values(tokens.size());
  work(*kept, [&] {
    return findLosses(*kept, getSpan(tokens), getSpan(targets), values);
  });
  return moveToArray(std::move(values), {tokens.size()});
}

static FloatsOut embed(const SessionHandle &handle, const TokensIn &tokens) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  std::vector<float> values;
  work(state, [&]() -> Status {
    GIST_TRY(state.conversation->end());
    return state.session->embed(getSpan(tokens), values);
  });
  size_t count = values.size();
  return moveToArray(std::move(values), {count});
}

static void reset(const SessionHandle &handle) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  work(state, [&] { return state.conversation->reset(); });
}

static void setAdapter(const SessionHandle &handle, const nb::bytes &name) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  work(state, [&] { return state.conversation->setAdapter(getString(name)); });
}

static void rewindTo(const SessionHandle &handle, int64_t position) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  work(state, [&] { return state.conversation->rewind(position); });
}

static TokensOut getTokens(const SessionHandle &handle) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  std::vector<int32_t> tokens;
  work(state, [&]() -> Status {
    GIST_TRY(state.conversation->end());
    std::span<const int32_t> seen = state.conversation->tokens();
    tokens.assign(seen.begin(), seen.end());
    return {};
  });
  size_t count = tokens.size();
  return TokensOut(moveToArray(std::move(tokens), {count}));
}

/// Bytes of an array that Python holds; read where they are.
using BytesIn =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Runs an entry on the bytes of its inputs, in its order, with T tokens. Gives
/// the bytes of its outputs, by name.
static nb::list callEntry(const SessionHandle &handle, const std::string &name,
                          int64_t tokens, const std::vector<BytesIn> &arrays) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  const ModuleSpec &spec = state.model.module->spec();
  const EntrySpec *entry = findEntry(spec, name);
  std::map<std::string, std::vector<uint8_t>> outputs;
  std::map<std::string, Bytes> inputs;
  // The Python side has checked their number.
  for (size_t i = 0; i < std::min(arrays.size(), entry->inputs.size()); ++i)
    inputs[spec.buffers[entry->inputs[i]].name] = {arrays[i].data(),
                                                   arrays[i].size()};
  work(state, [&]() -> Status {
    GIST_TRY(state.conversation->end());
    return state.session->call(name, {{kSymbolTokens, tokens}}, inputs,
                               outputs);
  });
  nb::list result;
  for (uint32_t buffer : entry->outputs) {
    const std::vector<uint8_t> &bytes = outputs[spec.buffers[buffer].name];
    result.append(nb::bytes(bytes.data(), bytes.size()));
  }
  return result;
}

/// Position, capacity, and the name of the target whose code runs.
static nb::tuple describe(const SessionHandle &handle) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  int64_t position = 0, capacity = 0;
  work(state, [&]() -> Status {
    position = state.session->position();
    capacity = state.session->capacity();
    return {};
  });
  return nb::make_tuple(position, capacity,
                        makeText(state.session->target().name));
}

/// Drafts by look-up where there is no model.
static void draftBy(const SessionHandle &handle, const Model *draft) {
  std::shared_ptr<State> kept = needState(handle);
  State &state = *kept;
  const Tokenizer &tokenizer = state.model.needTokenizer();
  work(state, [&]() -> Status {
    GIST_TRY(DraftVerifier::check(*state.session));
    std::unique_ptr<Drafter> drafter = makeLookupDrafter();
    if (draft)
      GIST_TRY(makeModuleDrafter(draft->module, *state.device, draft->isTrusted,
                                 *state.model.module, state.session->capacity(),
                                 tokenizer, drafter));
    state.drafter = std::move(drafter);
    return {};
  });
}

void python::addSession(nb::module_ &m) {
  nb::class_<StreamHandle>(m, "Stream")
      .def("next", nextPiece)
      .def("end", endStream)
      .def("result", getResult);
  nb::class_<SessionHandle>(m, "Session")
      .def("begin", begin)
      .def("begin_tokens", beginTokens)
      .def("begin_chat", beginChat)
      .def("feed", feed)
      .def("logits", getLogits)
      .def("logits_after", logitsAfter)
      .def("losses", losses)
      .def("embed", embed)
      .def("call", callEntry)
      .def("reset", reset)
      .def("set_adapter", setAdapter)
      .def("rewind", rewindTo)
      .def("tokens", getTokens)
      .def("fork", forkSession)
      .def("save", saveSession)
      .def("load", loadSession)
      .def("draft_by", draftBy, nb::arg().none())
      .def("describe", describe)
      .def("close", [](SessionHandle &handle) { handle.state.reset(); });
  m.def("open_session", openSession);
}
