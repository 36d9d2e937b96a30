//===- tokenizers-driver.cpp - Tokenizers behind a pipe, for Python tests -===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: tokenizers-driver import-folder DIR SPEC
//        tokenizers-driver import-gguf JSON SPEC
//        tokenizers-driver encode SPEC [plain|text]  < texts > id lists
//        tokenizers-driver decode SPEC [all]    < id lists > texts
//        tokenizers-driver stream SPEC [after]  < id lists > texts
//        tokenizers-driver time SPEC            < texts > seconds
//        tokenizers-driver render               < templates, contexts > texts
//
// `plain` leaves out the tokens around a text, `text` finds no special tokens
// in it either; `after` streams what continues a text. Every record on a pipe
// is a 32-bit size in bytes and the bytes. `render` answers with the text after
// a '+', or the error after a '-'.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/TextBytes.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerImport.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace gist;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static bool readRecord(std::string &record) {
  uint32_t size;
  if (fread(&size, sizeof(size), 1, stdin) != 1)
    return false;
  record.resize(size);
  return fread(record.data(), 1, size, stdin) == size;
}

static void writeRecord(const void *data, size_t bytes) {
  uint32_t size = static_cast<uint32_t>(bytes);
  fwrite(&size, sizeof(size), 1, stdout);
  fwrite(data, 1, bytes, stdout);
}

static std::vector<int32_t> idsOf(const std::string &record) {
  std::vector<int32_t> ids(record.size() / sizeof(int32_t));
  std::memcpy(ids.data(), record.data(), ids.size() * sizeof(int32_t));
  return ids;
}

static Status importFolder(const std::string &folder, TokenizerSpec &spec) {
  std::string texts[9];
  const char *names[9] = {"tokenizer.json",
                          "vocab.json",
                          "merges.txt",
                          "vocab.txt",
                          "tokenizer_config.json",
                          "special_tokens_map.json",
                          "generation_config.json",
                          "chat_template.jinja",
                          "tokenizer.model"};
  for (int i = 0; i < 9; ++i)
    texts[i] = readFile(folder + "/" + names[i]);
  return importTokenizer(HuggingFaceTokenizer{texts[0], texts[1], texts[2],
                                              texts[3], texts[4], texts[5],
                                              texts[6], texts[7], texts[8]},
                         spec);
}

/// The keys without "tokenizer.ggml.", from a JSON file that the test wrote.
static Status importGguf(const std::string &path, TokenizerSpec &spec) {
  nlohmann::json keys = nlohmann::json::parse(readFile(path));
  GgufTokenizer gguf;
  gguf.model = keys["model"];
  gguf.pre = keys["pre"];
  gguf.tokens = keys["tokens"].get<std::vector<std::string>>();
  gguf.merges = keys["merges"].get<std::vector<std::string>>();
  gguf.tokenTypes = keys["token_type"].get<std::vector<int32_t>>();
  gguf.chatTemplate = keys["chat_template"];
  if (keys.contains("scores"))
    gguf.scores = keys["scores"].get<std::vector<float>>();
  auto id = [&](const char *key, std::optional<uint32_t> &out) {
    if (keys.contains(key))
      out = keys[key].get<uint32_t>();
  };
  auto flag = [&](const char *key, std::optional<bool> &out) {
    if (keys.contains(key))
      out = keys[key].get<bool>();
  };
  id("bos_token_id", gguf.bos);
  id("eos_token_id", gguf.eos);
  id("unknown_token_id", gguf.unknown);
  id("padding_token_id", gguf.pad);
  id("mask_token_id", gguf.mask);
  id("seperator_token_id", gguf.separator);
  flag("add_bos_token", gguf.addBos);
  flag("add_eos_token", gguf.addEos);
  flag("add_space_prefix", gguf.addSpacePrefix);
  flag("remove_extra_whitespaces", gguf.removeExtraSpaces);
  return importTokenizer(gguf, spec);
}

static int fail(const Status &status) {
  fprintf(stderr, "tokenizers-driver: error: %s\n", status.text.c_str());
  return 1;
}

static int renderAll() {
  std::string text, context;
  while (readRecord(text) && readRecord(context)) {
    ChatTemplate chat;
    std::string result;
    Status status = ChatTemplate::parse(text, chat);
    if (status.ok())
      status = chat.render(context, result);
    result = status.ok() ? "+" + result : "-" + status.text;
    writeRecord(result.data(), result.size());
  }
  return 0;
}

static int runOnRecords(const std::string &mode, const Tokenizer &tokenizer,
                        const std::string &option) {
  bool flag = !option.empty();
  std::string record;
  double seconds = 0;
  while (readRecord(record)) {
    if (mode == "encode" || mode == "time") {
      std::vector<int32_t> ids;
      // Of this process: another one's work does not count.
      std::clock_t begin = std::clock();
      tokenizer.encode(record, ids, {!flag, option != "text", false});
      seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      if (mode == "encode")
        writeRecord(ids.data(), ids.size() * sizeof(int32_t));
    } else if (mode == "decode") {
      std::string text = tokenizer.decode(idsOf(record), !flag);
      writeRecord(text.data(), text.size());
    } else {
      // Each piece on its own, so that the test sees where they end.
      StreamDecoder decoder(tokenizer, false, flag);
      for (int32_t id : idsOf(record)) {
        std::string piece = decoder.push(id);
        writeRecord(piece.data(), piece.size());
      }
      std::string piece = decoder.finish();
      writeRecord(piece.data(), piece.size());
    }
  }
  if (mode == "time")
    printf("%.6f\n", seconds);
  return 0;
}

int main(int argc, char **argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "render" && argc == 2)
    return renderAll();
  TokenizerSpec spec;
  if ((mode == "import-folder" || mode == "import-gguf") && argc == 4) {
    Status status = mode == "import-gguf" ? importGguf(argv[2], spec)
                                          : importFolder(argv[2], spec);
    if (!status.ok())
      return fail(status);
    std::ofstream(argv[3], std::ios::binary) << spec.serialize();
    return 0;
  }
  if (argc != 3 && argc != 4) {
    fputs("usage: tokenizers-driver MODE FILE [OPTION]\n", stderr);
    return 2;
  }
  std::string bytes = readFile(argv[2]);
  Status status = TokenizerSpec::deserialize(bytesOf(bytes), spec);
  Tokenizer tokenizer;
  if (status.ok())
    status = Tokenizer::create(std::move(spec), tokenizer);
  if (!status.ok())
    return fail(status);
  return runOnRecords(mode, tokenizer, argc == 4 ? argv[3] : "");
}
