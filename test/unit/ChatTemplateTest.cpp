//===- ChatTemplateTest.cpp - Chat messages to a prompt -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The comparison with Jinja is test/integration; these are the C++ interface
// and what a template may not do.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace gist;

namespace {

/// The template of many chat models, with the white space that trips simple
/// engines.
static const char kChatMl[] =
    "{% for message in messages %}\n"
    "{{ '<|im_start|>' + message.role + '\\n' + message['content'] | trim }}"
    "<|im_end|>\n"
    "{% endfor %}\n"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// Parsed anew for each context.
static Status render(std::string_view text, std::string_view context,
                     std::string &out) {
  ChatTemplate chat;
  GIST_TRY(ChatTemplate::parse(text, chat));
  return chat.render(context, out);
}

/// The message of a template that must fail.
static std::string error(std::string_view text, std::string_view context) {
  std::string out = "before";
  Status status = render(text, context, out);
  EXPECT_FALSE(status.ok()) << text << " gives " << out;
  // On error no half prompt is returned.
  EXPECT_EQ(out, "before");
  return status.text;
}

// Braces in a message are text: only the template is a template.
TEST(ChatTemplate, Conversation) {
  ChatTemplate chat;
  ASSERT_TRUE(ChatTemplate::parse(kChatMl, chat).ok());
  std::vector<ChatMessage> messages = {{"system", "Be brief."},
                                       {"user", " Hi {{ x }} \n"}};
  std::string out;
  ASSERT_TRUE(chat.render(messages, {}, out).ok());
  EXPECT_EQ(out, "<|im_start|>system\nBe brief.<|im_end|>\n"
                 "<|im_start|>user\nHi {{ x }}<|im_end|>\n"
                 "<|im_start|>assistant\n");
  ChatOptions options;
  options.addGenerationPrompt = false;
  ASSERT_TRUE(chat.render({}, options, out).ok());
  EXPECT_EQ(out, "");
}

// `tools` is none and not undefined: templates ask for it.
TEST(ChatTemplate, TokensOfTheModel) {
  ChatTemplate chat;
  ASSERT_TRUE(ChatTemplate::parse("{{ bos_token }}|{{ eos_token }}|"
                                  "{{ tools is none }}",
                                  chat)
                  .ok());
  std::string out;
  ChatOptions options;
  options.bosToken = "<s>";
  options.eosToken = "</s>";
  ASSERT_TRUE(chat.render({}, options, out).ok());
  EXPECT_EQ(out, "<s>|</s>|True");
}

// Rendering must not leave anything in the parsed template.
TEST(ChatTemplate, OneTemplateServesManyConversations) {
  ChatTemplate chat;
  ASSERT_TRUE(ChatTemplate::parse("{% set ns = namespace(n=0) %}"
                                  "{% for i in l %}{% set ns.n = ns.n + i %}"
                                  "{% endfor %}{{ ns.n }}",
                                  chat)
                  .ok());
  std::string out;
  ASSERT_TRUE(chat.render(R"({"l": [1, 2]})", out).ok());
  EXPECT_EQ(out, "3");
  ASSERT_TRUE(chat.render(R"({"l": [5]})", out).ok());
  EXPECT_EQ(out, "5");
}

// As Python computes; the powers of -1 do not overflow, however large the
// exponent is.
TEST(ChatTemplate, PowersOfSmallBases) {
  std::string out;
  ASSERT_TRUE(render("{{ (-1) ** 65 }} {{ (-1) ** 66 }} {{ (-1) ** 0 }} "
                     "{{ (-1) ** 9223372036854775807 }} {{ 0 ** 0 }} "
                     "{{ 0 ** 99 }} {{ 1 ** 9223372036854775806 }} "
                     "{{ (-2) ** 63 }} {{ 2 ** 62 }}",
                     "{}", out)
                  .ok());
  EXPECT_EQ(out, "-1 1 1 -1 1 0 1 -9223372036854775808 4611686018427387904");
  error("{{ 2 ** 63 }}", "{}");
  error("{{ (-2) ** 64 }}", "{}");
}

// The smallest integer has no absolute value in 64 bits.
TEST(ChatTemplate, RangesOfTheSmallestInteger) {
  EXPECT_NE(error("{{ range(-9223372036854775807 - 1) }}", "{}")
                .find("range takes integers"),
            std::string::npos);
  EXPECT_NE(error("{{ range(0, 1, -9223372036854775807 - 1) }}", "{}")
                .find("range takes integers"),
            std::string::npos);
}

TEST(ChatTemplate, TheLastOfEqualKeysCounts) {
  std::string out;
  ASSERT_TRUE(render("{% set n = namespace({'a': 1, 'b': 2}, a=3) %}"
                     "{{ n.a }}{{ n.b }} {{ dict(d, x=7).x }} "
                     "{{ {'k': 1, 'l': 2, 'k': 3} }}",
                     R"({"d": {"x": 5}})", out)
                  .ok());
  EXPECT_EQ(out, "32 7 {'k': 3, 'l': 2}");
}

// Entries of few are searched one by one, those of many by an index.
TEST(ChatTemplate, DictionariesOfAnySize) {
  for (int size : {1, 16, 17, 5000}) {
    std::string entries, reversed;
    for (int i = 0; i < size; ++i) {
      std::string entry =
          "\"k" + std::to_string(i) + "\": " + std::to_string(i * i);
      entries += (i ? ", " : "") + entry;
      reversed = entry + (i ? ", " : "") + reversed;
    }
    std::string out, last = std::to_string(size - 1);
    ASSERT_TRUE(render("{{ d.k" + last + " }} {{ d.no }} {{ 'k0' in d }} " +
                           "{{ d == e }} {{ d == dict(d, k0=1) }} " +
                           "{{ d.keys() | last }}",
                       "{\"d\": {" + entries + "}, \"e\": {" + reversed + "}}",
                       out)
                    .ok());
    EXPECT_EQ(out, std::to_string((size - 1) * (size - 1)) +
                       "  True True False k" + last);
  }
}

// The mistake may be in a template of a hundred lines.
TEST(ChatTemplate, ErrorsNameThePlace) {
  EXPECT_EQ(error("a\n {{ b.c.d }}", R"({"b": {}})"),
            "line 2, column 8: 'c' is undefined");
  EXPECT_EQ(error("{{ 'x", "{}"), "line 1, column 4: a string has no end");
  EXPECT_EQ(error("{% if x %}", R"({"x": 1})"),
            "line 1, column 11: expected {% endif %}");
  EXPECT_EQ(error("{{ raise_exception('no') }}", "{}"),
            "line 1, column 19: the template says: no");
  EXPECT_EQ(error("{{ x | frobnicate }}", R"({"x": 1})"),
            "line 1, column 8: filter 'frobnicate' is not supported");
  EXPECT_EQ(error("{% extends 'x' %}", "{}"),
            "line 1, column 4: {% extends %} is not supported here");
  EXPECT_EQ(error("x", "[]"), "the context is not a JSON object");
  EXPECT_EQ(error("x", "{"),
            "the context: not JSON: byte 2 is not what was expected there");
}

// A template comes with a model file and may be hostile: time, memory,
// recursion, overflow and cycles.
TEST(ChatTemplate, WhatWouldNotEndIsStopped) {
  // Loops of ten thousand million rounds.
  error("{% for i in range(99999) %}{% for j in range(99999) %}"
        "{% endfor %}{% endfor %}",
        "{}");
  // A string that doubles sixty times.
  error("{% set n = namespace(s='ab') %}{% for i in range(60) %}"
        "{% set n.s = n.s + n.s %}{% endfor %}",
        "{}");
  // A list inside a list, and so on: printing and freeing recurse.
  error("{% set n = namespace(l=[]) %}{% for i in range(999) %}"
        "{% set n.l = [n.l] %}{% endfor %}",
        "{}");
  error("{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}", "{}");
  error("{% macro f(x=f()) %}{{ x }}{% endmacro %}{{ f() }}", "{}");
  error("{{ " + std::string(100000, '(') + " }}", "{}");
  error("{{ 9223372036854775807 + 1 }}", "{}");
  // The one division that overflows; on x86 it would end the program.
  error("{{ (-9223372036854775807 - 1) // -1 }}", "{}");
  // Values are counted, and a cycle of them would never be freed.
  error("{% set n = namespace() %}{% set n.n = n %}", "{}");
}

/// Any text is a template or refused: under the sanitizers this finds reads out
/// of bounds.
TEST(ChatTemplate, DamagedTemplatesDoNoHarm) {
  const std::string whole =
      std::string(kChatMl) +
      "{% macro f(x, y=[1, {'a': 2}]) %}{{ x[1:-1] ~ y[0] }}{% endmacro %}"
      "{{ f('abc') | upper if messages is defined and not 1 < 2.5e0 else -1 }}"
      "{% set n = namespace(v=0) %}{% set n.v = n.v + 1 %}{# c #}{{ n.v }}"
      "{% for k, v in {'a': 1}.items() if v %}{{ loop.index }}{% endfor %}";
  const std::string context =
      R"({"messages": [{"role": "user", "content": "h\u00e9"}]})";
  std::string out;
  ASSERT_TRUE(render(whole, context, out).ok());
  // A generator of our own, so that the rounds are the same everywhere.
  uint64_t state = 1;
  auto random = [&](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  static constexpr std::string_view parts[] = {
      "{{",    "}}",       "{%", "%}",   "-", "'",  "(",    ")",
      "[",     "]",        "{",  "}",    "|", ".",  " if ", " is ",
      " not ", "messages", "\\", "\xFF", "9", "\n", "#}",   "**"};
  int failed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (uint64_t i = 0, count = 1 + random(3); i < count; ++i) {
      size_t at = random(text.size());
      if (random(2))
        text.insert(at, parts[random(std::size(parts))]);
      else
        text.erase(at, 1 + random(8));
    }
    failed += !render(text, context, out).ok();
  }
  // If all or none failed, the damage would be of no use.
  EXPECT_GT(failed, 1000);
  EXPECT_LT(failed, 19900);
}

} // namespace
