//===- ResponsesApi.h - The Responses API as chats --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The newer of OpenAI's two APIs for conversations says the same in other
// words. A request becomes that of a chat, and the parts of a chat's answer
// become items and events.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_RESPONSESAPI_H
#define GIST_TOOLS_SERVING_RESPONSESAPI_H

#include "tools/serving/Json.h"
#include "tools/serving/Responses.h"

#include <string>
#include <utility>
#include <vector>

namespace gist::serve {

/// A request of the Responses API in the words of a chat.
struct TranslatedRequest {
  Json chat = Json::object();
  /// Names of fields in the chat, and what the client calls them; what has
  /// others in front of it comes first.
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<std::string> ignored; ///< fields that change nothing
};

ApiError translateRequest(const Json &body, TranslatedRequest &result);

/// An error of the chat in the client's words.
ApiError translateError(const TranslatedRequest &request, ApiError error);

/// The answer to a request as it grows. Each call returns the events that it
/// gives, as text of a stream.
class ResponseEvents {
public:
  /// `body` is the client's, of which answers repeat some fields.
  ResponseEvents(const Json &body, const AnswerHead &head);

  /// A part of a chat's answer, or all of it: one of `choices`.
  std::string add(const Json &choice);
  std::string finish(const Usage &usage);
  std::string fail(const ApiError &error);

  /// The answer so far.
  const Json &whole() const { return response; }

private:
  std::string event(const char *type, Json fields);
  std::string responseEvent(const char *type);
  /// Where the last item stands, and its part of text.
  Json place(bool ofText) const;
  std::string addText(const std::string &text);
  std::string addCall(const Json &call);
  /// Ends the message that is being written, where there is one.
  std::string endMessage(const char *status);
  std::string addItem(Json item);

  Json response;
  bool isWriting = false; ///< the last item is a message without its end
  bool isTooLong = false; ///< the answer was cut off
  size_t eventCount = 0;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_RESPONSESAPI_H
