//===- ServingRequestsTest.cpp - What gist-serve reads and writes ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Json.h"
#include "tools/serving/Assets.h"
#include "tools/serving/FairQueue.h"
#include "tools/serving/Keys.h"
#include "tools/serving/Metrics.h"
#include "tools/serving/Requests.h"
#include "tools/serving/Responses.h"
#include "tools/serving/ResponsesApi.h"

#include "gtest/gtest.h"

using namespace gist;
using namespace gist::serve;

/// The error of a body that should not parse, or that of its fields.
template <typename Request>
static ApiError readWith(ApiError (*read)(const Json &, Request &),
                         const std::string &text, Request &request) {
  Json body;
  GIST_SERVE_TRY(parseJson(text, body));
  return read(body, request);
}

static ApiError chatError(const std::string &fields) {
  ChatRequest request;
  return readWith(readChat,
                  R"({"messages":[{"role":"user","content":"Hi"}])" + fields +
                      "}",
                  request);
}

static ApiError completionError(const std::string &fields) {
  CompletionRequest request;
  return readWith(readCompletion, R"({"prompt":"Hi")" + fields + "}", request);
}

TEST(ServingJson, RefusesWhatIsNotJson) {
  Json body;
  for (const char *text :
       {"", " ", "{", "}", "nul", "{\"a\":1,}", "[1] 2", "\"\\ud800\"",
        "{\"a\":\"\xff\"}", "{\"a\":\"\n\"}", "NaN", "01", "\xef\xbb\xbf{"}) {
    ApiError error = parseJson(text, body);
    EXPECT_EQ(error.status, 400) << text;
    EXPECT_NE(error.message.find("not JSON"), std::string::npos) << text;
  }
  EXPECT_EQ(parseJson("{\"a\":1e999}", body).status, 400);
  EXPECT_TRUE(body.is_null());
  EXPECT_TRUE(parseJson("{\"a\":[1]}", body).ok());
}

TEST(ServingJson, RefusesDeepNesting) {
  Json body;
  // The limit itself is fine; brackets in strings do not count.
  std::string deepest =
      std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_TRUE(parseJson(deepest, body).ok());
  ApiError error = parseJson("[" + deepest + "]", body);
  EXPECT_NE(error.message.find("deep"), std::string::npos);
  EXPECT_TRUE(parseJson("\"" + std::string(100, '[') + "\"", body).ok());
  EXPECT_TRUE(parseJson("\"\\\"" + std::string(100, '[') + "\"", body).ok());
  // Many brackets end no process.
  EXPECT_FALSE(parseJson(std::string(1 << 22, '['), body).ok());
}

TEST(ServingJson, FieldsAreChecked) {
  Json body = {{"n", 5},          {"half", 2.5},
               {"flag", true},    {"text", "x"},
               {"none", nullptr}, {"big", 18446744073709551615ull},
               {"whole", 3.0}};
  Fields fields(body);
  EXPECT_EQ(fields.integer("n", 0, 10), 5);
  EXPECT_EQ(fields.integer("whole", 0, 10), 3);
  EXPECT_EQ(fields.number("half", 0, 3), 2.5);
  EXPECT_EQ(fields.boolean("flag"), true);
  EXPECT_EQ(fields.text("text"), "x");
  EXPECT_FALSE(fields.text("none"));
  EXPECT_FALSE(fields.failed());
  // The first mistake is kept, and nothing is found after it.
  EXPECT_FALSE(fields.integer("big", 0, 10));
  EXPECT_FALSE(fields.text("text"));
  ApiError error = fields.finish();
  EXPECT_EQ(error.param, "big");
  EXPECT_EQ(error.message,
            "'big' is 18446744073709551615; expected an integer from 0 to 10.");
}

TEST(ServingJson, TypesAreNamed) {
  Json body = {{"a", "text"}};
  EXPECT_EQ(
      [&] {
        Fields fields(body, "outer");
        (void)fields.integer("a", 0, 1);
        return fields.finish().message;
      }(),
      "'outer.a' is of type string; expected an integer.");
  Json list = Json::array();
  EXPECT_EQ(Fields(list).finish().message, "The body is not an object.");
}

TEST(ServingRequests, ReadsAChat) {
  ChatRequest request;
  ApiError error = readWith(readChat, R"({
    "model": "m", "temperature": 0.5, "top_p": 0.9, "seed": -1, "stop": ["a","b"],
    "max_tokens": 7, "stream": true, "stream_options": {"include_usage": true},
    "logprobs": true, "top_logprobs": 3, "n": 1, "tools": [], "user": "me",
    "response_format": {"type": "text"}, "frequency_penalty": 0.0,
    "messages": [{"role": "developer", "content": "S"},
                 {"role": "user", "content": [{"type": "text", "text": "A"},
                                              {"type": "text", "text": "B"}]}]})",
                            request);
  ASSERT_TRUE(error.ok()) << error.message;
  EXPECT_EQ(request.model, "m");
  EXPECT_FLOAT_EQ(request.sampler.temperature, 0.5f);
  EXPECT_FLOAT_EQ(request.sampler.topP, 0.9f);
  EXPECT_EQ(request.seed, UINT64_MAX);
  EXPECT_EQ(request.stops, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.maxTokens, 7);
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.includeUsage);
  EXPECT_EQ(request.logprobs, 3);
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(request.messages[0].role, "system");
  EXPECT_EQ(request.messages[1].content, "AB");
}

TEST(ServingRequests, DefaultsAreThoseOfTheApi) {
  CompletionRequest request;
  ASSERT_TRUE(readWith(readCompletion, R"({"prompt":"Hi"})", request).ok());
  EXPECT_FLOAT_EQ(request.sampler.temperature, 1.0f);
  EXPECT_FLOAT_EQ(request.sampler.topP, 1.0f);
  EXPECT_FALSE(request.maxTokens);
  EXPECT_EQ(request.logprobs, -1);
  EXPECT_FALSE(request.stream || request.echo || request.seed);
}

TEST(ServingRequests, RefusesWhatItCannotDo) {
  const std::pair<const char *, const char *> kCases[] = {
      {R"(,"functions":[{}])", "functions"},
      {R"(,"modalities":["text","audio"])", "modalities"},
      {R"(,"web_search_options":{})", "web_search_options"}};
  for (const auto &[fields, param] : kCases) {
    ApiError error = chatError(fields);
    EXPECT_EQ(error.status, 400) << fields;
    EXPECT_EQ(error.code, "unsupported_parameter") << fields;
    EXPECT_EQ(error.param, param);
    EXPECT_NE(error.message.find("is not supported: "), std::string::npos);
  }
  EXPECT_EQ(chatError(R"(,"colour":1)").code, "unknown_parameter");
  EXPECT_EQ(chatError(R"(,"colour":null)").code, "unknown_parameter");
}

TEST(ServingRequests, ReadsTools) {
  const std::string tools =
      R"(,"tools":[{"type":"function","function":{"name":"look_up","strict":true,
         "description":"Looks","parameters":{"type":"object"}}},
         {"type":"function","function":{"name":"end"}}])";
  auto read = [&](const std::string &fields, const std::string &messages = "") {
    ChatRequest request;
    ApiError error = readWith(readChat,
                              R"({"messages":[{"role":"user","content":"Hi"})" +
                                  messages + "]" + fields + "}",
                              request);
    EXPECT_TRUE(error.ok()) << error.message;
    return request;
  };
  ToolSet set = read(tools).tools;
  EXPECT_EQ(set.tools.size(), 2u);
  EXPECT_FALSE(set.isForced);
  EXPECT_TRUE(set.has("end"));
  EXPECT_FALSE(set.has("en"));
  EXPECT_EQ(set.tools[0].dump(),
            R"({"type":"function","function":{"name":"look_up",)"
            R"("description":"Looks","parameters":{"type":"object"}}})");
  EXPECT_TRUE(read(tools + R"(,"tool_choice":"none")").tools.empty());
  EXPECT_FALSE(read(tools + R"(,"tool_choice":"auto")").tools.isForced);
  EXPECT_TRUE(read(tools + R"(,"tool_choice":"required")").tools.isForced);
  set = read(tools + R"(,"tool_choice":{"type":"function",
                        "function":{"name":"end"}})")
            .tools;
  EXPECT_TRUE(set.isForced);
  EXPECT_EQ(set.only, "end");
  EXPECT_TRUE(read(R"(,"tool_choice":"auto")").tools.empty());
  // Arguments are objects for templates; what is not JSON stays a text.
  ChatRequest request = read(tools, R"(,{"role":"assistant","content":null,
      "tool_calls":[{"id":"c1","type":"function",
                     "function":{"name":"end","arguments":"{\"a\": 1}"}},
                    {"function":{"name":"end","arguments":"{"}}]},
      {"role":"tool","tool_call_id":"c1","content":"done"})");
  EXPECT_EQ(request.messages[1].toolCalls,
            R"([{"id":"c1","type":"function","function":{"name":"end",)"
            R"("arguments":{"a":1}}},{"id":"","type":"function",)"
            R"("function":{"name":"end","arguments":"{"}}])");
  EXPECT_EQ(request.messages[2].role, "tool");

  for (const char *bad :
       {R"(,"tools":{})", R"(,"tools":[{}])", R"(,"tools":[5])",
        R"(,"tools":[{"type":"retrieval"}])",
        R"(,"tools":[{"type":"function","function":{}}])",
        R"(,"tools":[{"type":"function","function":{"name":"a b"}}])",
        R"(,"tools":[{"type":"function","function":{"name":"a","x":1}}])",
        R"(,"tools":[{"type":"function",
            "function":{"name":"a","parameters":[]}}])",
        R"(,"tool_choice":"required")", R"(,"tool_choice":"maybe")",
        R"(,"tool_choice":{"type":"function","function":{"name":"a"}})"}) {
    ApiError error = chatError(bad);
    EXPECT_EQ(error.status, 400) << bad;
    EXPECT_TRUE(error.param.starts_with("tool")) << bad << error.param;
  }
  EXPECT_EQ(
      chatError(tools + R"(,"response_format":{"type":"json_object"})").param,
      "response_format");
}

namespace {
/// What a reader makes of a text in pieces of so many bytes.
struct ReadText {
  std::string content;
  std::vector<ToolCall> calls;
};
} // namespace

static ReadText readInPieces(const std::string &text, size_t size) {
  static const ToolSet tools = [] {
    ToolSet set;
    for (const char *name : {"f", "g"})
      set.tools.push_back({{"function", {{"name", name}}}});
    return set;
  }();
  ToolCallReader reader(tools);
  ReadText result;
  for (size_t i = 0; i < text.size(); i += size)
    result.content += reader.push(text.substr(i, size), result.calls);
  result.content += reader.finish(result.calls);
  return result;
}

TEST(ServingRequests, FindsToolCalls) {
  const std::string f = R"(<tool_call>
{"name": "f", "arguments": {"a": "</tool", "b": [1, 2]}}
</tool_call>)";
  const std::string g = R"(<tool_call>{"name":"g"}</tool_call>)";
  for (size_t size : {1, 2, 3, 7, 1000}) {
    ReadText read = readInPieces("Let me see: " + f + "\n" + g + "\n", size);
    EXPECT_EQ(read.content, "Let me see: ");
    ASSERT_EQ(read.calls.size(), 2u);
    EXPECT_EQ(read.calls[0].name, "f");
    EXPECT_EQ(read.calls[0].arguments, R"({"a":"</tool","b":[1,2]})");
    EXPECT_EQ(read.calls[1].name, "g");
    EXPECT_EQ(read.calls[1].arguments, "{}");
    // One that the model did not close.
    read = readInPieces(f.substr(0, f.size() - 12), size);
    EXPECT_EQ(read.content, "");
    EXPECT_EQ(read.calls.size(), 1u);
    // One without what stands around it, if it is the whole answer.
    read = readInPieces(R"({"name": "g", "arguments": {"a": 1}})", size);
    EXPECT_EQ(read.content, "");
    ASSERT_EQ(read.calls.size(), 1u);
    EXPECT_EQ(read.calls[0].arguments, R"({"a":1})");
    // White space before it, which may come as a token of its own.
    read = readInPieces("\n {\"name\": \"g\"}", size);
    EXPECT_EQ(read.content, "");
    EXPECT_EQ(read.calls.size(), 1u);
    // What is not a call stays text.
    for (const char *other :
         {"", "plain <b> text <tool", "<tool_call>", "<tool_call>{</tool_call>",
          R"(<tool_call>{"name":"h"}</tool_call> and)",
          R"(<tool_call>{"name":"f","arguments":3}</tool_call>)",
          "<tool_call>[1]</tool_call><tool_call>", "a < b </tool_call>",
          R"({"name":"h"})", R"({"name":"f"} and)", R"(a {"name":"f"})", "{",
          " "}) {
      read = readInPieces(other, size);
      EXPECT_EQ(read.content, other);
      EXPECT_TRUE(read.calls.empty());
    }
  }
}

TEST(ServingRequests, ToolsNeedATemplateThatHasThem) {
  EXPECT_TRUE(checkToolTemplate("{% if tools %}<tool_call>").ok());
  EXPECT_EQ(checkToolTemplate("{{ messages }}").code, "unsupported_parameter");
  EXPECT_EQ(checkToolTemplate("").param, "tools");
}

TEST(ServingRequests, ReadsFormats) {
  auto grammarOf = [](const std::string &format) {
    ChatRequest request;
    ApiError error = readWith(
        readChat,
        R"({"messages":[{"role":"user","content":"Hi"}],"response_format":)" +
            format + "}",
        request);
    EXPECT_TRUE(error.ok()) << error.message;
    return request.grammar;
  };
  EXPECT_FALSE(grammarOf(R"({"type":"text"})"));
  EXPECT_TRUE(grammarOf(R"({"type":"json_object"})"));
  EXPECT_TRUE(grammarOf(R"({"type":"json_schema","json_schema":
      {"name":"n","strict":true,"schema":{"type":"object"}}})"));
  EXPECT_TRUE(grammarOf(R"({"type":"grammar","grammar":"root ::= \"a\""})"));
  for (const auto &[format, sentence] :
       {std::pair<const char *, const char *>{
            R"({"type":"xml"})", "'response_format.type' is not 'text', "
                                 "'json_object', 'json_schema' or 'grammar'."},
        {R"({"type":"json_schema"})",
         "'response_format' has no 'json_schema'."},
        {R"({"type":"json_schema","json_schema":{"name":"n"}})",
         "'response_format.json_schema' has no 'schema'."},
        {R"({"type":"json_schema","json_schema":{"schema":{"not":{}}}})",
         "'response_format': at '#': 'not' is not a keyword that is "
         "supported."},
        {R"({"type":"grammar","grammar":"a"})",
         "'response_format': line 1, column 2: expected 'name ::='."}}) {
    ApiError error = chatError(std::string(",\"response_format\":") + format);
    EXPECT_EQ(error.status, 400) << format;
    EXPECT_EQ(error.message, sentence);
  }
}

TEST(ServingRequests, RefusesValuesOutOfRange) {
  for (const char *fields : {R"(,"temperature":3)",
                             R"(,"temperature":-0.1)",
                             R"(,"top_p":1.5)",
                             R"(,"max_tokens":0)",
                             R"(,"max_tokens":-1)",
                             R"(,"max_tokens":1.5)",
                             R"(,"max_tokens":"5")",
                             R"(,"stop":5)",
                             R"(,"stop":[""])",
                             R"(,"stop":[-1])",
                             R"(,"stop":[1.5])",
                             R"(,"stop":[[1]])",
                             R"(,"stop_token_ids":5)",
                             R"(,"stop_token_ids":["a"])",
                             R"(,"n":0)",
                             R"(,"n":129)",
                             R"(,"n":1.5)",
                             R"(,"min_tokens":-1)",
                             R"(,"presence_penalty":2.5)",
                             R"(,"frequency_penalty":-2.5)",
                             R"(,"frequency_penalty":"a")",
                             R"(,"repetition_penalty":0)",
                             R"(,"logit_bias":[])",
                             R"(,"logit_bias":{"a":1})",
                             R"(,"logit_bias":{"1":101})",
                             R"(,"logit_bias":{"-1":1})",
                             R"(,"logit_bias":{"1 ":1})",
                             R"(,"logit_bias":{"":1})",
                             R"(,"logit_bias":{"2147483648":1})",
                             R"(,"logit_bias":{"1":"1"})",
                             R"(,"seed":1.5)",
                             R"(,"seed":18446744073709551615)",
                             R"(,"top_logprobs":2)",
                             R"(,"logprobs":true,"top_logprobs":21)",
                             R"(,"logprobs":1)",
                             R"(,"stream":1)",
                             R"(,"stream_options":{"include_usage":true})",
                             R"(,"stream":true,"stream_options":{"other":1})"})
    EXPECT_EQ(chatError(fields).code == "invalid_value" ||
                  chatError(fields).code == "unknown_parameter",
              true)
        << fields;
  for (const char *fields :
       {R"(,"max_tokens":0)", R"(,"logprobs":true)", R"(,"logprobs":21)"})
    EXPECT_EQ(completionError(fields).status, 400) << fields;
  EXPECT_TRUE(completionError(R"(,"max_tokens":0,"echo":true)").ok());
  EXPECT_TRUE(completionError(R"(,"logprobs":false)").ok());
}

TEST(ServingRequests, ReadsWhatChangesLogits) {
  ChatRequest request;
  ApiError error = readWith(readChat, R"({
    "messages": [{"role": "user", "content": "Hi"}], "n": 3,
    "presence_penalty": 0.5, "frequency_penalty": -1, "repetition_penalty": 1.25,
    "logit_bias": {"5": -100, "7": 2.5}, "min_tokens": 4,
    "stop": ["a", 9, "b"], "stop_token_ids": [11]})",
                            request);
  ASSERT_TRUE(error.ok()) << error.message;
  EXPECT_EQ(request.answers, 3);
  EXPECT_FLOAT_EQ(request.sampler.presencePenalty, 0.5f);
  EXPECT_FLOAT_EQ(request.sampler.frequencyPenalty, -1.0f);
  EXPECT_FLOAT_EQ(request.sampler.repeatPenalty, 1.25f);
  EXPECT_EQ(request.sampler.repeatWindow, UINT32_MAX);
  EXPECT_EQ(request.sampler.minTokens, 4);
  ASSERT_EQ(request.sampler.biases.size(), 2u);
  EXPECT_EQ(request.sampler.biases[0].token, 5);
  EXPECT_FLOAT_EQ(request.sampler.biases[0].bias, -100.0f);
  EXPECT_EQ(request.sampler.biases[1].token, 7);
  EXPECT_EQ(request.stops, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.stopTokens, (std::vector<int32_t>{9, 11}));
  std::string many = R"(,"logit_bias":{)";
  for (size_t i = 0; i <= kMaxBiases; ++i)
    many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  EXPECT_EQ(chatError(many + "}").param, "logit_bias");
}

// Fields that change nothing in the answer are told, not refused.
TEST(ServingRequests, TellsWhatItIgnores) {
  ChatRequest request;
  ASSERT_TRUE(readWith(readChat, R"({
    "messages": [{"role": "user", "content": "Hi"}], "keep_alive": "5m",
    "reasoning_effort": "low", "user": null})",
                       request)
                  .ok());
  EXPECT_EQ(request.ignored,
            (std::vector<std::string>{"keep_alive", "reasoning_effort"}));
  EmbeddingRequest embedding;
  ASSERT_TRUE(
      readWith(readEmbedding, R"({"input":"a","keep_alive":0})", embedding)
          .ok());
  EXPECT_EQ(embedding.ignored, (std::vector<std::string>{"keep_alive"}));
}

TEST(ServingRequests, ReadsBestOf) {
  CompletionRequest request;
  ASSERT_TRUE(
      readWith(readCompletion, R"({"prompt":"Hi","n":2,"best_of":5})", request)
          .ok());
  EXPECT_EQ(request.answers, 2);
  EXPECT_EQ(request.bestOf, 5);
  CompletionRequest plain;
  ASSERT_TRUE(readWith(readCompletion, R"({"prompt":"Hi","n":4})", plain).ok());
  EXPECT_EQ(plain.bestOf, 4);
  EXPECT_EQ(completionError(R"(,"n":3,"best_of":2)").param, "best_of");
  EXPECT_EQ(completionError(R"(,"best_of":2,"stream":true)").param, "best_of");
  CompletionRequest many;
  EXPECT_EQ(
      readWith(readCompletion, R"({"prompt":["a","b"],"n":65})", many).param,
      "n");
  EXPECT_TRUE(completionError(R"(,"n":128)").ok());
}

TEST(ServingRequests, ReadsTextsForTokens) {
  TokenizeRequest request;
  ASSERT_TRUE(readWith(readTokenize, R"({"prompt":"a"})", request).ok());
  EXPECT_TRUE(request.addSpecial);
  EXPECT_EQ(std::get<std::string>(request.input), "a");
  TokenizeRequest other;
  ASSERT_TRUE(readWith(readTokenize, R"({"content":"b"})", other).ok());
  EXPECT_FALSE(other.addSpecial);
  EXPECT_EQ(std::get<std::string>(other.input), "b");
  TokenizeRequest chat;
  ASSERT_TRUE(readWith(readTokenize,
                       R"({"messages":[{"role":"user","content":"c"}],
                           "add_generation_prompt":false})",
                       chat)
                  .ok());
  EXPECT_EQ(std::get<1>(chat.input).size(), 1u);
  EXPECT_FALSE(chat.addAnswer);
  for (const char *bad :
       {"{}", R"({"prompt":5})", R"({"prompt":"a","content":"b"})",
        R"({"messages":[]})", R"({"prompt":"a","messages":[]})",
        R"({"prompt":"a","with_pieces":true})"}) {
    TokenizeRequest none;
    EXPECT_EQ(readWith(readTokenize, bad, none).status, 400) << bad;
  }
  DetokenizeRequest back;
  ASSERT_TRUE(readWith(readDetokenize, R"({"tokens":[1,2]})", back).ok());
  EXPECT_EQ(back.tokens, (std::vector<int32_t>{1, 2}));
  for (const char *bad : {"{}", R"({"tokens":5})", R"({"tokens":[-1]})",
                          R"({"tokens":["a"]})", R"({"tokens":[1],"x":1})"}) {
    DetokenizeRequest none;
    EXPECT_EQ(readWith(readDetokenize, bad, none).status, 400) << bad;
  }
}

TEST(ServingRequests, Reranking) {
  RerankRequest request;
  ASSERT_TRUE(readWith(readRerank,
                       R"({"query":"a","documents":["b",{"text":"c"}],
                           "top_n":1,"return_documents":true,"user":"me"})",
                       request)
                  .ok());
  EXPECT_EQ(request.documents, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(request.best, 1);
  EXPECT_TRUE(request.withDocuments);
  EXPECT_EQ(request.ignored, std::vector<std::string>{"user"});
  for (const char *bad :
       {R"({"documents":["b"]})", R"({"query":"","documents":["b"]})",
        R"({"query":"a"})", R"({"query":"a","documents":[]})",
        R"({"query":"a","documents":"b"})", R"({"query":"a","documents":[5]})",
        R"({"query":"a","documents":[{}]})",
        R"({"query":"a","documents":[{"text":"b","title":"c"}]})",
        R"({"query":"a","documents":["b"],"top_n":0})",
        R"({"query":"a","documents":["b"],"max_chunks_per_doc":3})"}) {
    RerankRequest none;
    EXPECT_EQ(readWith(readRerank, bad, none).status, 400) << bad;
  }
}

TEST(ServingResponses, EndsOfAnswers) {
  AnswerHead head = AnswerHead::make(/*isChat=*/true, "m");
  Json part = {{"delta", {{"content", "a"}}}, {"finish_reason", nullptr}};
  ResponseEvents failed(Json::object(), head);
  failed.add(part);
  std::string text = failed.fail(ApiError::internal("It broke."));
  EXPECT_TRUE(text.starts_with("event: response.failed\ndata: {")) << text;
  EXPECT_EQ(failed.whole()["status"], "failed");
  EXPECT_EQ(failed.whole()["error"]["message"], "It broke.");

  // Nothing written is a message without text.
  ResponseEvents empty(Json{{"top_p", nullptr}, {"temperature", 0}}, head);
  empty.add({{"delta", Json::object()}, {"finish_reason", "stop"}});
  empty.finish({});
  EXPECT_EQ(empty.whole()["output"][0]["content"][0]["text"], "");
  EXPECT_EQ(empty.whole()["temperature"], 0);
  EXPECT_EQ(empty.whole()["top_p"], 1);
}

TEST(ServingRequests, RefusesOddMessages) {
  for (const char *text :
       {R"({})", R"({"messages":[]})", R"({"messages":{}})",
        R"({"messages":["Hi"]})", R"({"messages":[{"role":"user"}]})",
        R"({"messages":[{"content":"Hi"}]})",
        R"({"messages":[{"role":"king","content":"Hi"}]})",
        R"({"messages":[{"role":"user","content":"Hi","tool_calls":[{}]}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[{}]}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[]}]})",
        R"({"messages":[{"role":"assistant","tool_calls":7}]})",
        R"({"messages":[{"role":"function","content":"Hi"}]})",
        R"({"messages":[{"role":"user","content":5}]})",
        R"({"messages":[{"role":"user","content":[{"type":"image_url"}]}]})",
        R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})",
        R"({"messages":[{"role":"user","content":"Hi","x":1}]})"}) {
    ChatRequest request;
    ApiError error = readWith(readChat, text, request);
    EXPECT_EQ(error.status, 400) << text;
    EXPECT_TRUE(error.param.starts_with("messages")) << text;
  }
}

TEST(ServingRequests, ReadsPrompts) {
  auto read = [](const std::string &prompt, std::vector<Prompt> &prompts) {
    CompletionRequest request;
    ApiError error =
        readWith(readCompletion, "{\"prompt\":" + prompt + "}", request);
    prompts = request.prompts;
    return error;
  };
  std::vector<Prompt> prompts;
  ASSERT_TRUE(read(R"("a")", prompts).ok());
  EXPECT_EQ(prompts, std::vector<Prompt>{Prompt("a")});
  ASSERT_TRUE(read(R"(["a","b"])", prompts).ok());
  EXPECT_EQ(prompts, (std::vector<Prompt>{Prompt("a"), Prompt("b")}));
  ASSERT_TRUE(read("[1,2]", prompts).ok());
  EXPECT_EQ(prompts, std::vector<Prompt>{Prompt(std::vector<int32_t>{1, 2})});
  ASSERT_TRUE(read("[[1],[2,3]]", prompts).ok());
  EXPECT_EQ(prompts.size(), 2u);
  for (const char *bad : {"[]", "5", "{}", "[-1]", "[1.5]", "[2147483648]",
                          "[1,\"a\"]", "[[]]", "[[1],[]]", "[null]", "null"})
    EXPECT_EQ(read(bad, prompts).status, 400) << bad;
  std::string many = "[";
  for (size_t i = 0; i <= kMaxPrompts; ++i)
    many += i == 0 ? "\"a\"" : ",\"a\"";
  EXPECT_EQ(read(many + "]", prompts).status, 400);
}

TEST(ServingRequests, ReadsEmbeddings) {
  EmbeddingRequest request;
  ASSERT_TRUE(readWith(readEmbedding,
                       R"({"input":["a","b"],"encoding_format":"base64"})",
                       request)
                  .ok());
  EXPECT_TRUE(request.base64);
  EXPECT_EQ(request.inputs.size(), 2u);
  EmbeddingRequest other;
  EXPECT_EQ(
      readWith(readEmbedding, R"({"input":"a","encoding_format":"hex"})", other)
          .param,
      "encoding_format");
}

TEST(ServingResponses, ErrorsAreShort) {
  Json body = errorBody(
      ApiError::invalid(std::string(5000, 'x'), std::string(5000, 'y')));
  EXPECT_LT(writeJson(body).size(), 1500u);
  EXPECT_EQ(body["error"]["param"].get<std::string>().size(),
            600u + sizeof("…") - 1);
  EXPECT_TRUE(errorBody({400, "t", "c", "", "m"})["error"]["param"].is_null());
}

TEST(ServingResponses, EmbeddingsInBase64) {
  // Of Python: base64.b64encode(struct.pack("<3f", 1, -2, 0.5)) and two of
  // them.
  EXPECT_EQ(embeddingBody(0, {1.0f, -2.0f, 0.5f}, true)["embedding"],
            "AACAPwAAAMAAAAA/");
  EXPECT_EQ(embeddingBody(0, {1.0f, -2.0f}, true)["embedding"], "AACAPwAAAMA=");
  EXPECT_EQ(embeddingBody(3, {1.0f}, false).dump(),
            R"({"object":"embedding","index":3,"embedding":[1.0]})");
}

TEST(ServingResponses, AssetsAreWhole) {
  Json body;
  ASSERT_TRUE(parseJson(openApi(), body).ok());
  EXPECT_TRUE(body["paths"].contains("/v1/chat/completions"));
  EXPECT_NE(chatPage().find("</html>"), std::string_view::npos);
}

TEST(ServingQueue, ClientsTakeTurns) {
  FairQueue<int> queue;
  for (int i = 0; i < 4; ++i)
    queue.push("greedy", i);
  queue.push("late", 10);
  queue.push("later", 20);
  std::vector<int> order;
  while (!queue.empty())
    order.push_back(queue.pop());
  EXPECT_EQ(order, (std::vector<int>{0, 10, 20, 1, 2, 3}));
}

TEST(ServingQueue, FrontStaysAndItemsLeave) {
  FairQueue<int> queue;
  queue.push("a", 1);
  queue.push("a", 2);
  queue.push("b", 3);
  EXPECT_EQ(queue.front(), 1);
  EXPECT_EQ(queue.front(), 1);
  queue.removeIf([](int item) { return item == 1; });
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.front(), 2);
  queue.removeIf([](int) { return true; });
  EXPECT_TRUE(queue.empty());
  queue.push("c", 4);
  EXPECT_EQ(queue.pop(), 4);
}

TEST(ServingKeys, OnlyWholeKeysCount) {
  Keys keys;
  EXPECT_TRUE(keys.empty());
  ASSERT_TRUE(keys.addLines("# comment\nfirst\r\n\nsecond\n").ok());
  EXPECT_EQ(keys.find("Bearer first"), 0u);
  EXPECT_EQ(keys.find("Bearer second"), 1u);
  for (const char *bad :
       {"", "first", "Bearer ", "Bearer firs", "Bearer firstf",
        "Bearer firstfirst", "bearer first", "Basic first", "Bearer # comment"})
    EXPECT_FALSE(keys.find(bad)) << bad;
  EXPECT_FALSE(keys.addLines("\n# nothing\n").ok());
  EXPECT_FALSE(keys.add("with space").ok());
  EXPECT_FALSE(keys.add("").ok());
}

TEST(ServingMetrics, TextOfPrometheus) {
  Metrics metrics;
  metrics.countRequest("/health", 200);
  metrics.countRequest("/health", 200);
  metrics.count(Metrics::Counter::WrittenTokens, 5);
  metrics.set(Metrics::Level::Waiting, 3);
  for (double seconds : {0.0005, 0.002, 0.002, 100.0})
    metrics.observe(Metrics::Time::Step, seconds);
  std::string text = metrics.text();
  for (const char *line :
       {"gist_requests_total{path=\"/health\",status=\"200\"} 2\n",
        "gist_written_tokens_total 5\n", "gist_waiting 3\n",
        "gist_step_seconds_bucket{le=\"0.001\"} 1\n",
        "gist_step_seconds_bucket{le=\"0.0025\"} 3\n",
        "gist_step_seconds_bucket{le=\"60\"} 3\n",
        "gist_step_seconds_bucket{le=\"+Inf\"} 4\n",
        "gist_step_seconds_count 4\n", "gist_step_seconds_sum 100.0045\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
}
