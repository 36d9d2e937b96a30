//===- Http.cpp - HTTP/1.1 as bytes ---------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Http.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

using namespace gist::serve;

static ApiError malformed(std::string message) {
  return ApiError::invalid({}, std::move(message));
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

/// Whether two names are the same but for their case.
static bool isSameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

const std::string *HttpRequest::find(std::string_view name) const {
  for (const auto &[key, value] : headers)
    if (isSameName(key, name))
      return &value;
  return nullptr;
}

std::string HttpRequest::header(std::string_view name) const {
  const std::string *found = find(name);
  return found ? *found : std::string();
}

/// The text before the next `separator`, which is removed with it; without one
/// the whole text.
static std::string_view takeUntil(std::string_view &text,
                                  std::string_view separator) {
  size_t end = text.find(separator);
  std::string_view before = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size()
                                                   : end + separator.size());
  return before;
}

static std::string_view trim(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// A method or the name of a header.
static bool isToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) !=
               std::string_view::npos;
  });
}

/// Whether all of `text` is a number in that base, which fits.
static bool parseNumber(std::string_view text, int base, uint64_t &number) {
  const char *first = text.data(), *last = first + text.size();
  auto [end, error] = std::from_chars(first, last, number, base);
  return error == std::errc() && end == last;
}

/// False for a '%' without two digits behind it.
static bool decodePath(std::string_view text, std::string &path) {
  for (; !text.empty(); text.remove_prefix(1)) {
    uint64_t byte = static_cast<unsigned char>(text[0]);
    if (text[0] == '%') {
      if (text.size() < 3 || !parseNumber(text.substr(1, 2), 16, byte))
        return false;
      text.remove_prefix(2);
    }
    path += static_cast<char>(byte);
  }
  return true;
}

static ApiError parseRequestLine(std::string_view line, HttpRequest &request) {
  std::string_view method = takeUntil(line, " ");
  std::string_view target = takeUntil(line, " ");
  if (!isToken(method) || target.empty() ||
      (line != "HTTP/1.1" && line != "HTTP/1.0"))
    return malformed("The request is not HTTP/1.1.");
  request.method = method;
  request.isOld = line == "HTTP/1.0";
  if (target.size() > kMaxTarget) {
    ApiError error = malformed("The path is too long.");
    error.status = 414;
    return error;
  }
  if (!decodePath(target.substr(0, target.find_first_of("?#")), request.path))
    return malformed("The path has a '%' without two hexadecimal digits.");
  return {};
}

static ApiError parseHeader(std::string_view line, HttpRequest &request) {
  size_t colon = line.find(':');
  if (colon == std::string_view::npos || !isToken(line.substr(0, colon)))
    return malformed("The request has a header without a name.");
  std::string_view value = trim(line.substr(colon + 1));
  if (std::ranges::any_of(value, [](unsigned char c) {
        return (c < ' ' && c != '\t') || c == 127;
      }))
    return malformed("The request has a header with control characters.");
  request.headers.emplace_back(line.substr(0, colon), value);
  return {};
}

/// Finds how long the body is. A request that says it in two ways is refused.
static ApiError measureBody(HttpRequest &request) {
  size_t lengths = 0;
  for (const auto &header : request.headers)
    lengths += isSameName(header.first, "Content-Length") ||
               isSameName(header.first, "Transfer-Encoding");
  if (lengths > 1)
    return malformed("The request has more than one length of its body.");
  if (const std::string *coding = request.find("Transfer-Encoding")) {
    if (!isSameName(*coding, "chunked") || request.isOld)
      return malformed("The body has a transfer encoding that this server does "
                       "not read; expected 'chunked'.");
    request.bodyBytes.reset();
  } else if (const std::string *length = request.find("Content-Length")) {
    if (!parseNumber(*length, 10, request.bodyBytes.emplace()))
      return malformed("'Content-Length' is not a number of bytes.");
  }
  return {};
}

ApiError gist::serve::parseHead(std::string_view head, HttpRequest &request) {
  GIST_SERVE_TRY(parseRequestLine(takeUntil(head, "\r\n"), request));
  for (std::string_view line = takeUntil(head, "\r\n"); !line.empty();
       line = takeUntil(head, "\r\n"))
    GIST_SERVE_TRY(parseHeader(line, request));
  GIST_SERVE_TRY(measureBody(request));
  request.expectsContinue =
      !request.isOld && isSameName(request.header("Expect"), "100-continue");
  request.isLast = request.isOld;
  std::string options = request.header("Connection");
  for (std::string_view left = options; !left.empty();)
    request.isLast |= isSameName(trim(takeUntil(left, ",")), "close");
  return {};
}

static const char *reasonOf(int status) {
  static constexpr std::pair<int, const char *> kReasons[] = {
      {200, "OK"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {429, "Too Many Requests"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"}};
  for (const auto &[known, reason] : kReasons)
    if (known == status)
      return reason;
  return "";
}

std::string gist::serve::writeHead(const HttpResponse &response, bool isLast) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     reasonOf(response.status) + "\r\n";
  auto add = [&](const std::string &name, const std::string &value) {
    head += name + ": " + value + "\r\n";
  };
  for (const auto &[name, value] : response.headers)
    add(name, value);
  if (!response.type.empty())
    add("Content-Type", response.type);
  if (response.next)
    add("Transfer-Encoding", "chunked");
  else
    add("Content-Length", std::to_string(response.body.size()));
  if (isLast)
    add("Connection", "close");
  return head + "\r\n";
}

std::string gist::serve::writeChunk(std::string_view piece) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
  return size + std::string(piece) + "\r\n";
}

ChunkedBody::State ChunkedBody::take(std::string_view bytes,
                                     std::string &body) {
  while (!bytes.empty()) {
    if (phase == Phase::Data) {
      size_t count = std::min(left, bytes.size());
      body.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      left -= count;
      if (left == 0)
        phase = Phase::DataEnd;
      continue;
    }
    size_t end = bytes.find('\n');
    line.append(bytes.substr(0, end));
    if (line.size() > kMaxChunkLine)
      return State::Malformed;
    if (end == std::string_view::npos)
      break;
    bytes.remove_prefix(end + 1);
    if (State state = takeLine(body.size()); state != State::Incomplete)
      return state;
    line.clear();
  }
  return State::Incomplete;
}

ChunkedBody::State ChunkedBody::takeLine(size_t bodySize) {
  if (!line.ends_with('\r'))
    return State::Malformed;
  line.pop_back();
  if (phase == Phase::Trailer)
    return line.empty() ? State::Whole : State::Incomplete;
  if (phase == Phase::DataEnd) {
    phase = Phase::Size;
    return line.empty() ? State::Incomplete : State::Malformed;
  }
  // What follows a ';' changes nothing in the body.
  uint64_t size = 0;
  if (!parseNumber(std::string_view(line).substr(0, line.find(';')), 16, size))
    return State::Malformed;
  if (size > limit - bodySize)
    return State::TooLarge;
  left = size;
  phase = size > 0 ? Phase::Data : Phase::Trailer;
  return State::Incomplete;
}
