//===- gist-session-test.cpp - Logits of a module, for Python -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gist-session-test [--hip LIBRARY] MODULE score|feed|nll|embed PIECE...
//       < IDS > NUMBERS
//
// Reads token ids, 32-bit integers, and gives them to one session in pieces of
// the given sizes, so that the cache is carried over. Writes f32 numbers: the
// logits after every token (score), after every piece (feed), -log p of what
// follows every token (nll; the last of a piece is followed by its first), or
// the embedding of every piece. With --hip on an AMD card, or on the simulator
// in its place.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace gist;

static Status writeNumbers(std::span<const float> numbers) {
  if (std::fwrite(numbers.data(), sizeof(float), numbers.size(), stdout) !=
      numbers.size())
    return Status::error(Code::Io, "cannot write the output");
  return {};
}

static Status runPiece(Session &session, const std::string &mode,
                       std::span<const int32_t> tokens) {
  if (mode == "score")
    return session.score(tokens, [](size_t, std::span<const float> logits) {
      return writeNumbers(logits);
    });
  if (mode == "apart")
    return session.scoreApart(tokens,
                              [](size_t, std::span<const float> logits) {
                                return writeNumbers(logits);
                              });
  if (mode == "feed") {
    GIST_TRY(session.feed(tokens));
    return writeNumbers(session.logits());
  }
  if (mode == "nll") {
    std::vector<int32_t> targets(tokens.begin() + 1, tokens.end());
    targets.push_back(tokens.front());
    return session.nll(tokens, targets,
                       [](size_t, std::span<const float> losses) {
                         return writeNumbers(losses);
                       });
  }
  std::vector<float> embedding;
  GIST_TRY(session.embed(tokens, embedding));
  return writeNumbers(embedding);
}

static Status run(int argc, char **argv) {
  std::unique_ptr<Device> device;
  if (std::strcmp(argv[1], "--hip") == 0) {
    DeviceOptions options;
    options.library = argv[2];
    GIST_TRY(openDevice("hip", options, device));
    argc -= 2;
    argv += 2;
  } else {
    GIST_TRY(openDevice("cpu", {}, device));
  }
  const char *adapter = "";
  if (std::strcmp(argv[1], "--adapter") == 0) {
    adapter = argv[2];
    argc -= 2;
    argv += 2;
  }
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(argv[1], module));
  std::unique_ptr<Session> session;
  GIST_TRY(Session::create(module, *device, {}, session));
  GIST_TRY(session->setAdapter(adapter));

  std::vector<int32_t> ids;
  for (int32_t id = 0; std::fread(&id, sizeof(id), 1, stdin) == 1;)
    ids.push_back(id);
  std::span<const int32_t> rest = ids;
  for (int i = 3; i < argc; ++i) {
    size_t count = std::strtoul(argv[i], nullptr, 10);
    if (count > rest.size())
      return Status::error(Code::BadArgument, "%zu tokens of %zu", count,
                           rest.size());
    GIST_TRY(runPiece(*session, argv[2], rest.first(count)));
    rest = rest.subspan(count);
  }
  return {};
}

int main(int argc, char **argv) {
  int least = 4;
  for (int at = 1; argc > at && std::strncmp(argv[at], "--", 2) == 0; at += 2)
    least += 2;
  if (argc < least) {
    std::fputs("usage: gist-session-test [--hip LIBRARY] [--adapter NAME] "
               "MODULE score|feed|nll|embed PIECE...\n",
               stderr);
    return 2;
  }
  Status status = run(argc, argv);
  if (status.ok())
    return 0;
  std::fprintf(stderr, "gist-session-test: error: %s\n", status.text.c_str());
  return 1;
}
