//===- LimitsTest.cpp - Small files that ask for much ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each input runs in a process of its own that may have half a gigabyte more
// than the test and ten seconds. docs/security.md lists the classes of bugs.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Gguf.h"
#include "passes/Import/Files/Safetensors.h"
#include "passes/Plan/File/PlanFile.h"
#include "runtime/module/Module.h"
#include "runtime/support/TextBytes.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerImport.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// GCC says it with a macro, clang with a feature.
#ifndef __has_feature
#define __has_feature(x) 0
#endif

using namespace gist;

template <typename T> static std::string pack(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

/// Bytes of address space that this process has.
static uint64_t addressSpace() {
  unsigned long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

enum class Want { Refusal, Success, Either };

/// Runs `body` under the limits. It must end by itself, with a sentence where a
/// refusal is wanted.
static void runLimited(const char *what, Want want,
                       const std::function<Status()> &body) {
  constexpr uint64_t kMemory = 512u << 20;
  constexpr rlim_t kSeconds = 10;
  pid_t child = ::fork();
  if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
    // The sanitizer's own tables are far larger.
    struct rlimit memory = {addressSpace() + kMemory, addressSpace() + kMemory};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    struct rlimit time = {kSeconds, kSeconds};
    ::setrlimit(RLIMIT_CPU, &time);
    Status status = body();
    bool isRight =
        want == Want::Either || status.ok() == (want == Want::Success);
    if (!isRight)
      std::fprintf(stderr, "%s: %s\n", what,
                   status.ok() ? "was accepted" : status.text.c_str());
    ::_exit(isRight && (status.ok() || !status.text.empty()) ? 0 : 3);
  }
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result))
      << what << " ended by signal " << WTERMSIG(result);
  if (WIFEXITED(result))
    EXPECT_EQ(WEXITSTATUS(result), 0) << what;
}

//===----------------------------------------------------------------------===//
// Model files
//===----------------------------------------------------------------------===//

static Status gguf(const std::string &content) {
  GgufFile file;
  return readGguf(bytesOf(content), file);
}
static Status safetensors(const std::string &content) {
  SafetensorsFile file;
  return readSafetensors(bytesOf(content), file);
}
static Status safetensorsOf(const std::string &header, uint64_t data) {
  return safetensors(pack<uint64_t>(header.size()) + header +
                     std::string(data, '\0'));
}
static std::string ggufHeader(uint64_t tensors, uint64_t keys) {
  return "GGUF" + pack<uint32_t>(3) + pack(tensors) + pack(keys);
}
static std::string ggufText(const std::string &text) {
  return pack<uint64_t>(text.size()) + text;
}
static Status tokenizerJson(const std::string &json) {
  HuggingFaceTokenizer files;
  files.tokenizerJson = json;
  TokenizerSpec spec;
  return importTokenizer(files, spec);
}

// A byte, or a few, that ask for 2^60 bytes.
TEST(Limits, LyingSizes) {
  const uint64_t huge = uint64_t{1} << 60;
  runLimited("gguf byte", Want::Refusal, [] { return gguf("G"); });
  runLimited("gguf tensors", Want::Refusal,
             [&] { return gguf(ggufHeader(huge, 0)); });
  runLimited("gguf keys", Want::Refusal,
             [&] { return gguf(ggufHeader(0, huge)); });
  for (uint32_t type : {0u, 7u, 8u, 10u})
    runLimited("gguf array", Want::Refusal, [&] {
      return gguf(ggufHeader(0, 1) + ggufText("k") + pack<uint32_t>(9) +
                  pack(type) + pack(huge));
    });
  // 85 bytes: one key, and one tensor of 2^54 elements.
  runLimited("gguf tensor", Want::Refusal, [&] {
    return gguf(ggufHeader(1, 0) + ggufText("w") + pack<uint32_t>(4) +
                pack(uint64_t{1} << 14) + pack(uint64_t{1} << 14) +
                pack(uint64_t{1} << 13) + pack(uint64_t{1} << 13) +
                pack<uint32_t>(0) + pack<uint64_t>(0));
  });
  runLimited("safetensors", Want::Refusal,
             [&] { return safetensors(pack(huge)); });
  runLimited("safetensors header", Want::Refusal,
             [] { return safetensors(pack<uint64_t>(99'999'999)); });
  runLimited("sentencepiece", Want::Refusal, [] {
    HuggingFaceTokenizer files;
    files.sentencePiece = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x0f";
    TokenizerSpec spec;
    return importTokenizer(files, spec);
  });
  runLimited("module", Want::Refusal, [] {
    alignas(64) static FileHeader header;
    header.sectionCount = kMaxSections;
    header.fileSize = sizeof(header);
    std::shared_ptr<const Module> module;
    return Module::fromBytes(
        {reinterpret_cast<const uint8_t *>(&header), sizeof(header)}, ".",
        module);
  });
}

// Sums of an offset and a size that are right modulo 2^32.
TEST(Limits, OffsetsBeyond32Bits) {
  const std::string body = R"({"w":{"dtype":"F32","shape":[8],"data_offsets":)";
  runLimited("safetensors", Want::Refusal, [&] {
    return safetensorsOf(body + "[4294967296,4294967328]}}", 32);
  });
  runLimited("safetensors end", Want::Refusal, [&] {
    return safetensorsOf(body + "[18446744073709551584,18446744073709551615]}}",
                         32);
  });
  runLimited("gguf", Want::Refusal, [] {
    return gguf(ggufHeader(1, 0) + ggufText("w") + pack<uint32_t>(1) +
                pack<uint64_t>(8) + pack<uint32_t>(0) +
                pack(uint64_t{1} << 32) + std::string(64, '\0'));
  });
}

// The offsets of empty tensors have no meaning, and must not be used as an
// index.
TEST(Limits, EmptyTensors) {
  runLimited("safetensors", Want::Refusal, [] {
    return safetensorsOf(
        R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},)"
        R"("b":{"dtype":"F32","shape":[0,7],"data_offsets":[4,4]},)"
        R"("c":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        8);
  });
  runLimited("gguf", Want::Refusal, [] {
    return gguf(ggufHeader(1, 0) + ggufText("w") + pack<uint32_t>(1) +
                pack<uint64_t>(0) + pack<uint32_t>(0) + pack<uint64_t>(0) +
                std::string(64, '\0'));
  });
}

// Real models have some hundreds; more must take time in proportion.
TEST(Limits, ManyEntries) {
  runLimited("safetensors", Want::Success, [] {
    std::string header = "{";
    for (int i = 0; i < 100'000; ++i)
      header += (i ? ",\"w" : "\"w") + std::to_string(i) +
                R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" +
                std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]}";
    return safetensorsOf(header + "}", 400'000);
  });
  runLimited("gguf", Want::Success, [] {
    std::string content = ggufHeader(0, 100'000);
    for (int i = 0; i < 100'000; ++i)
      content += ggufText("k" + std::to_string(i)) + pack<uint32_t>(4) +
                 pack<uint32_t>(7);
    return gguf(content);
  });
}

TEST(Limits, DeepNesting) {
  const std::string deep =
      std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string objects = [] {
    std::string text;
    for (int i = 0; i < 200'000; ++i)
      text += "{\"a\":";
    return text + "1" + std::string(200'000, '}');
  }();
  for (const std::string *text : {&deep, &objects}) {
    runLimited("tokenizer.json", Want::Refusal,
               [&] { return tokenizerJson("{\"model\":" + *text + "}"); });
    runLimited("plan", Want::Refusal, [&] {
      PlanFile plan;
      return parsePlanFile("{\"layers\":" + *text + "}", ".", plan);
    });
    // Names that are not texts are left out.
    runLimited("index", Want::Either, [&] {
      std::map<std::string, std::string> index;
      std::string json = "{\"weight_map\":" + *text + "}";
      return readSafetensorsIndex(bytesOf(json), index);
    });
  }
}

//===----------------------------------------------------------------------===//
// Tokenizers
//===----------------------------------------------------------------------===//

// Byte tokens with invalid names: what a number parser makes of them must not
// index a table of 256.
TEST(Limits, OddByteTokens) {
  runLimited("gguf", Want::Either, [] {
    GgufTokenizer gguf;
    gguf.model = "llama";
    gguf.tokens = {"<unk>", "<s>", "</s>"};
    for (const char *odd : {"<0x-1>", "<0x100>", "<0xZZ>", "<0x>", "<0x 1>",
                            "<0x+1>", "<0x1", "<0xffffffffff>"})
      gguf.tokens.emplace_back(odd);
    for (size_t i = 0; i < gguf.tokens.size(); ++i) {
      gguf.scores.push_back(-static_cast<float>(i));
      gguf.tokenTypes.push_back(i == 0 ? 2 : i < 3 ? 3 : 6);
    }
    TokenizerSpec spec;
    GIST_TRY(importTokenizer(gguf, spec));
    Tokenizer tokenizer;
    GIST_TRY(Tokenizer::create(std::move(spec), tokenizer));
    std::vector<int32_t> ids;
    tokenizer.encode("a \xff <0x-1>", ids);
    for (int32_t i = 0; i < 11; ++i)
      (void)tokenizer.tokenText(i);
    (void)tokenizer.decode(ids);
    return Status();
  });
}

// Only known patterns are accepted: a file cannot bring one that backtracks for
// ever.
TEST(Limits, PatternsOfOthersAreRefused) {
  runLimited("regex", Want::Refusal, [] {
    return tokenizerJson(
        R"({"added_tokens":[],"pre_tokenizer":{"type":"Split",)"
        R"("pattern":{"Regex":"(a+)+$"},"behavior":"Isolated","invert":false},)"
        R"("model":{"type":"BPE","vocab":{"a":0},"merges":[]}})");
  });
}

// Each merge doubles the text of a token; a text of one letter has places for
// all of them.
TEST(Limits, MergesThatExplode) {
  auto make = [](int doublings) {
    std::string vocab, merges, token = "a";
    for (int i = 0; i <= doublings; ++i, token += token) {
      vocab += (i ? ",\"" : "\"") + token + "\":" + std::to_string(i);
      if (i < doublings)
        merges += (i ? ",\"" : "\"") + token + " " + token + "\"";
    }
    return R"({"added_tokens":[],"pre_tokenizer":{"type":"ByteLevel",)"
           R"("add_prefix_space":false},"model":{"type":"BPE","vocab":{)" +
           vocab + "},\"merges\":[" + merges + "]}}";
  };
  // A token of 2^16 bytes is too long to be one.
  runLimited("too long", Want::Refusal,
             [&] { return tokenizerJson(make(16)); });
  runLimited("long text", Want::Success, [&] {
    HuggingFaceTokenizer files;
    std::string json = make(12), text(1'000'000, 'a');
    files.tokenizerJson = json;
    TokenizerSpec spec;
    GIST_TRY(importTokenizer(files, spec));
    Tokenizer tokenizer;
    GIST_TRY(Tokenizer::create(std::move(spec), tokenizer));
    std::vector<int32_t> ids;
    tokenizer.encode(text, ids);
    return tokenizer.decode(ids) == text
               ? Status()
               : Status::error(Code::BadFile, "another text came back");
  });
}

//===----------------------------------------------------------------------===//
// Chat templates
//===----------------------------------------------------------------------===//

static Status render(const std::string &text) {
  ChatTemplate chat;
  GIST_TRY(ChatTemplate::parse(text, chat));
  const ChatMessage messages[] = {{"user", "Hello"}};
  std::string out;
  return chat.render(messages, {}, out);
}

TEST(Limits, TemplateBombs) {
  const std::string doubled =
      "{% set n = namespace(l=[1], m=[1]) %}"
      "{% for i in range(90) %}{% set n.l = [n.l, n.l] %}"
      "{% set n.m = [n.m, n.m] %}{% endfor %}";
  runLimited("shared lists, compared", Want::Refusal,
             [&] { return render(doubled + "{{ n.l == n.m }}"); });
  runLimited("shared lists, printed", Want::Refusal,
             [&] { return render(doubled + "{{ n.l ~ '' }}"); });
  runLimited("shared texts, sorted", Want::Refusal, [] {
    return render("{% set t = 'a' * 8000000 %}"
                  "{% set n = namespace(l=[t]) %}{% for i in range(16) %}"
                  "{% set n.l = n.l + n.l %}{% endfor %}{{ n.l | sort }}");
  });
  // Half as long as the text and different only at its end, 1000 times.
  runLimited("long searches", Want::Either, [] {
    return render("{% set t = 'a' * 4000000 %}{% set p = 'a' * 2000000 + 'b' %}"
                  "{% for i in range(1000) %}{{ p in t }}{{ t.rfind(p) }}"
                  "{{ t.count(p) }}{{ t.split(p) | length }}"
                  "{{ t.replace(p, '') | length }}{% endfor %}");
  });
  runLimited("long keys", Want::Either, [] {
    return render("{% set p = 'a' * 4000 %}{% for i in range(500) %}"
                  "{% set d = dict(messages[0]) %}{{ p ~ i in d }}"
                  "{% endfor %}");
  });
  // Each byte is written as four, `\\x01`.
  runLimited("long texts in lists, printed", Want::Refusal,
             [] { return render("{{ ['\x01' * 4000000] }}"); });
  // A million characters, each of which becomes a value.
  for (const char *each :
       {"{{ t | join | length }}", "{{ ''.join(t) | length }}",
        "{% for c in t if false %}{% endfor %}"})
    runLimited("texts that are taken apart", Want::Refusal, [&] {
      return render("{% set t = 'a' * 1000000 %}{% for i in range(100) %}" +
                    std::string(each) + "{% endfor %}");
    });
  // A test, a filter, a method or a key that goes through a long value each
  // time.
  for (const char *each :
       {"{{ -1 is in l }}", "{{ l is eq(m) }}", "{{ t is lower }}",
        "{{ 'x'.replace(t, t) }}", "{{ 'x'.startswith(l | map('string')) }}",
        "{{ 'x' | trim(t) }}", "{{ 'x' | indent(t) }}", "{{ l[m] }}",
        "{{ l[t] }}", "{{ [1] | select('in', l) }}",
        "{{ [l] | map('length') }}", "{{ l | unique }}",
        "{% set x %}{{ t }}{% endset %}"})
    runLimited(each, Want::Refusal, [&] {
      Status status = render("{% set t = 'a' * 4000000 %}"
                             "{% set l = range(4000) | list %}"
                             "{% set m = range(4000) | list %}"
                             "{% for i in range(90000) %}" +
                             std::string(each) + "{% endfor %}");
      bool isCounted = status.text.find("steps") != std::string::npos;
      return isCounted ? status : Status();
    });
  runLimited("texts to strip", Want::Either, [] {
    return render("{% set t = 'a' * 4000000 %}{% set c = 'b' * 400000 ~ 'a' %}"
                  "{{ t.strip(c) }}");
  });
  runLimited("places of a long template", Want::Either, [] {
    std::string text = "{% for i in range(1000) %}";
    for (int i = 0; i < 1000; ++i)
      text += "{% set v" + std::to_string(i) + " = 1 %}";
    return render(text + "{% endfor %}");
  });
  runLimited("arguments of macros", Want::Refusal, [] {
    std::string names = "a";
    for (int i = 0; i < 50'000; ++i)
      names += ",a" + std::to_string(i);
    return render("{% macro f(" + names + ") %}{% endmacro %}" +
                  "{% for i in range(1000) %}{{ f() }}{% endfor %}");
  });
  runLimited("nested blocks", Want::Refusal, [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i)
      text += "{% if 1 %}";
    return render(text);
  });
  runLimited("long chain", Want::Either, [] {
    std::string text = "{{ 1";
    for (int i = 0; i < 50'000; ++i)
      text += " + 1";
    return render(text + " }}");
  });
}
