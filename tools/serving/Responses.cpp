//===- Responses.cpp - What clients get -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Responses.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace gist;
using namespace gist::serve;

/// Longest sentence of an error: it may quote what a client sent.
static constexpr size_t kMaxMessage = 600;

/// The first `size` bytes of a text, without half a character at the end.
static std::string cut(std::string text, size_t size) {
  if (text.size() <= size)
    return text;
  while (size > 0 && (text[size] & '\xc0') == '\x80')
    --size;
  return text.substr(0, size) + "…";
}

Json serve::errorBody(const ApiError &error) {
  Json fields = {{"message", cut(error.message, kMaxMessage)},
                 {"type", error.type},
                 {"param", nullptr},
                 {"code", error.code}};
  if (!error.param.empty())
    fields["param"] = cut(error.param, kMaxMessage);
  return {{"error", std::move(fields)}};
}

Json serve::usageBody(const Usage &usage) {
  return {{"prompt_tokens", usage.promptTokens},
          {"completion_tokens", usage.writtenTokens},
          {"total_tokens", usage.promptTokens + usage.writtenTokens}};
}

std::string serve::makeId(const char *prefix) {
  static const uint64_t kStart =
      (uint64_t{std::random_device()()} << 32) ^ std::random_device()();
  static std::atomic<uint64_t> count = 0;
  char text[64];
  std::snprintf(text, sizeof text, "%s%016llx%08llx", prefix,
                static_cast<unsigned long long>(kStart),
                static_cast<unsigned long long>(++count));
  return text;
}

Json serve::toolCallBody(const ToolCall &call, size_t index, bool isChunk) {
  Json body = Json::object();
  if (isChunk)
    body["index"] = index;
  body["id"] = makeId("call_");
  body["type"] = "function";
  body["function"] = {{"name", call.name}, {"arguments", call.arguments}};
  return body;
}

AnswerHead AnswerHead::make(bool isChat, const std::string &model) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return {isChat, makeId(isChat ? "chatcmpl-" : "cmpl-"), model,
          std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

Json AnswerHead::fields(bool isChunk) const {
  const char *object = !isChat   ? "text_completion"
                       : isChunk ? "chat.completion.chunk"
                                 : "chat.completion";
  return {{"id", id},
          {"object", object},
          {"created", created},
          {"model", model},
          {"choices", Json::array()}};
}

const char *serve::finishText(FinishReason reason) {
  bool isEnd =
      reason == FinishReason::EndToken || reason == FinishReason::StopString;
  return isEnd ? "stop" : "length";
}

static bool isUtf8(std::string_view text) {
  // The writer of JSON checks just this.
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception &) {
    return false;
  }
}

std::string serve::tokenName(const Tokenizer &tokenizer, int32_t token) {
  std::string_view text = tokenizer.tokenText(token);
  if (isUtf8(text))
    return std::string(text);
  std::string name = "bytes:";
  for (char c : text) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "\\x%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    name += digits;
  }
  return name;
}

/// Impossible tokens have -inf, which JSON cannot say.
static double finite(float logprob) {
  return std::isfinite(logprob) ? static_cast<double>(logprob) : -9999.0;
}

/// The fields of a token in a chat.
static Json chatToken(const Tokenizer &tokenizer, int32_t token,
                      float logprob) {
  Json bytes = Json::array();
  for (char c : tokenizer.tokenText(token))
    bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", tokenName(tokenizer, token)},
          {"logprob", finite(logprob)},
          {"bytes", std::move(bytes)}};
}

Json serve::chatLogprob(const Tokenizer &tokenizer, int32_t token,
                        const TokenLogprobs &logprobs) {
  Json result = chatToken(tokenizer, token, logprobs.logprob);
  Json top = Json::array();
  for (const TokenLogprob &other : logprobs.top)
    top.push_back(chatToken(tokenizer, other.token, other.logprob));
  result["top_logprobs"] = std::move(top);
  return result;
}

static size_t countCharacters(std::string_view text) {
  size_t count = 0;
  for (char c : text)
    count += (c & '\xc0') != '\x80' ? 1 : 0;
  return count;
}

void CompletionLogprobs::add(int32_t token, const TokenLogprobs *logprobs,
                             std::string_view text) {
  std::string name = tokenName(tokenizer, token);
  tokens.push_back(name);
  offsets.push_back(offset);
  offset += countCharacters(text);
  if (!logprobs) {
    values.push_back(nullptr);
    top.push_back(nullptr);
    return;
  }
  values.push_back(finite(logprobs->logprob));
  Json others = Json::object();
  for (const TokenLogprob &other : logprobs->top)
    others.emplace(tokenName(tokenizer, other.token), finite(other.logprob));
  // The token itself is there too, likely or not.
  others.emplace(name, finite(logprobs->logprob));
  top.push_back(std::move(others));
}

Json CompletionLogprobs::take() {
  Json result = {{"tokens", std::move(tokens)},
                 {"token_logprobs", std::move(values)},
                 {"top_logprobs", std::move(top)},
                 {"text_offset", std::move(offsets)}};
  tokens = values = top = offsets = Json::array();
  return result;
}

Json serve::modelBody(const Model &model, const std::string &name) {
  return {{"id", name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "gist"},
          // Of a text for an encoder, which has no context of its own.
          {"context_length", model.writes()
                                 ? model.context
                                 : static_cast<int64_t>(model.embedLimit)},
          {"writes", model.writes()},
          {"embeds", model.embeds()}};
}

Json serve::modelsBody(const std::vector<std::unique_ptr<Model>> &models) {
  Json list = Json::array();
  for (const auto &model : models) {
    list.push_back(modelBody(*model, model->name));
    for (const std::string &adapter : model->adapters)
      list.push_back(modelBody(*model, model->name + ":" + adapter));
  }
  return {{"object", "list"}, {"data", std::move(list)}};
}

static std::string toBase64(const std::vector<uint8_t> &bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < count ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j)
      text += j <= count ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

Json serve::embeddingBody(size_t index, const std::vector<float> &vector,
                          bool base64) {
  Json result = {{"object", "embedding"}, {"index", index}};
  if (!base64) {
    result["embedding"] = vector;
    return result;
  }
  static_assert(std::endian::native == std::endian::little);
  std::vector<uint8_t> bytes(vector.size() * sizeof(float));
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  result["embedding"] = toBase64(bytes);
  return result;
}

std::string serve::streamEvent(const Json &data) {
  return "data: " + writeJson(data) + "\n\n";
}
