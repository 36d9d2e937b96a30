//===- ServingHttpTest.cpp - HTTP/1.1 as gist-serve reads and writes it ---===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Connection.h"
#include "tools/serving/Http.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

using namespace gist::serve;

static HttpRequest parse(const std::string &head) {
  HttpRequest request;
  ApiError error = parseHead(head + "\r\n\r\n", request);
  EXPECT_TRUE(error.ok()) << head << ": " << error.message;
  return request;
}

/// The status of a head that must be refused.
static int refusal(const std::string &head) {
  HttpRequest request;
  return parseHead(head + "\r\n\r\n", request).status;
}

TEST(ServingHttp, HeadsAreRead) {
  HttpRequest request =
      parse("POST /v1/%63hat%20?q=1#f HTTP/1.1\r\nhost:a:1\r\n"
            "Content-Type: \t application/json \r\nX-Empty:\r\n"
            "CONTENT-LENGTH: 12\r\nExpect: 100-Continue");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1/chat ");
  EXPECT_EQ(request.header("Host"), "a:1");
  EXPECT_EQ(request.header("content-type"), "application/json");
  ASSERT_NE(request.find("x-empty"), nullptr);
  EXPECT_EQ(*request.find("x-empty"), "");
  EXPECT_EQ(request.find("absent"), nullptr);
  EXPECT_EQ(request.bodyBytes, 12u);
  EXPECT_TRUE(request.expectsContinue);
  EXPECT_FALSE(request.isLast || request.isOld);
}

TEST(ServingHttp, ConnectionsEndWhereTheClientSays) {
  EXPECT_FALSE(parse("GET / HTTP/1.1").isLast);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nConnection: closed").isLast);
  EXPECT_TRUE(parse("GET / HTTP/1.1\r\nConnection: Close").isLast);
  EXPECT_TRUE(parse("GET / HTTP/1.1\r\nConnection: upgrade , close").isLast);
  HttpRequest old = parse("GET / HTTP/1.0\r\nExpect: 100-continue");
  EXPECT_TRUE(old.isLast && old.isOld && !old.expectsContinue);
}

TEST(ServingHttp, MalformedHeadsAreRefused) {
  for (const char *head :
       {"", "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ",
        "GET / HTTP/9.9", "GET / http/1.1", "G\1T / HTTP/1.1",
        "GET /%zz HTTP/1.1", "GET /%4 HTTP/1.1", "GET /%-1 HTTP/1.1",
        "GET / HTTP/1.1\r\nNo colon", "GET / HTTP/1.1\r\n: a",
        "GET / HTTP/1.1\r\nA : b", "GET / HTTP/1.1\r\nA: b\r\n folded",
        "GET / HTTP/1.1\r\nA: b\rc", "GET / HTTP/1.1\r\nA: \x7f"})
    EXPECT_EQ(refusal(head), 400) << head;
  std::string path(kMaxTarget, '/');
  EXPECT_EQ(parse("GET " + path + " HTTP/1.1").path, path);
  EXPECT_EQ(refusal("GET " + path + "/ HTTP/1.1"), 414);
}

TEST(ServingHttp, TwoLengthsOfABodyAreRefused) {
  const std::string line = "POST / HTTP/1.1\r\n";
  EXPECT_EQ(parse(line + "A: b").bodyBytes, 0u);
  EXPECT_FALSE(parse(line + "Transfer-Encoding: Chunked").bodyBytes);
  for (const char *headers :
       {"Content-Length: 1\r\nContent-Length: 1",
        "Content-Length: 1\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked", "Content-Length: -5",
        "Content-Length: +5", "Content-Length: 5 5", "Content-Length:",
        "Content-Length: 0x5", "Content-Length: 99999999999999999999"})
    EXPECT_EQ(refusal(line + headers), 400) << headers;
  EXPECT_EQ(refusal("POST / HTTP/1.0\r\nTransfer-Encoding: chunked"), 400);
}

TEST(ServingHttp, ChunksAreReadHoweverTheyAreCut) {
  using State = ChunkedBody::State;
  auto read = [](std::string_view bytes, size_t step, std::string &body) {
    ChunkedBody chunks(10);
    State state = State::Incomplete;
    for (size_t i = 0; i < bytes.size() && state == State::Incomplete;
         i += step)
      state = chunks.take(bytes.substr(i, step), body);
    return state;
  };
  for (size_t step : {1, 2, 3, 100}) {
    std::string body;
    EXPECT_EQ(
        read("5\r\nhello\r\n005;a=\"b\"\r\n\r\n\r\n!\r\n0\r\nA: b\r\n\r\n",
             step, body),
        State::Whole);
    EXPECT_EQ(body, "hello\r\n\r\n!");
    for (const char *bytes :
         {"zz\r\n", "\r\n", "-1\r\n", "5\nhello", "5\r\nhello!\r\n", "5 \r\n",
          "fffffffffffffffff\r\n"}) {
      body.clear();
      EXPECT_EQ(read(bytes, step, body), State::Malformed) << bytes;
    }
    for (const char *bytes :
         {"b\r\n", "ffffffffffffffff\r\n", "6\r\n123456\r\n5\r\n"}) {
      body.clear();
      EXPECT_EQ(read(bytes, step, body), State::TooLarge) << bytes;
    }
    body.clear();
    EXPECT_EQ(read("5\r\nhel", step, body), State::Incomplete);
    EXPECT_EQ(read("1;" + std::string(kMaxChunkLine, 'a'), step, body),
              State::Malformed);
  }
}

TEST(ServingHttp, AnswersAreWritten) {
  HttpResponse response;
  response.setHeader("Retry-After", "1");
  response.setBody("{}", "application/json");
  EXPECT_EQ(writeHead(response, /*isLast=*/false),
            "HTTP/1.1 200 OK\r\nRetry-After: 1\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n");
  response = {};
  response.status = 503;
  response.next = [](std::string &) { return true; };
  EXPECT_EQ(writeHead(response, /*isLast=*/true),
            "HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ(writeChunk(std::string(26, 'a')),
            "1a\r\n" + std::string(26, 'a') + "\r\n");
  EXPECT_EQ(writeChunk({}), "0\r\n\r\n");
}

namespace {
/// A connection and the client's end of it.
struct Pair {
  explicit Pair(const ConnectionLimits &limits) : limits(limits) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    connection.emplace(sockets[0], this->limits);
  }
  ~Pair() {
    close();
    connection.reset();
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(sockets[1], bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string receive() const {
    char bytes[256];
    ssize_t count = ::recv(sockets[1], bytes, sizeof bytes, MSG_DONTWAIT);
    return {bytes, static_cast<size_t>(std::max<ssize_t>(count, 0))};
  }
  void close() {
    if (sockets[1] >= 0)
      ::close(sockets[1]);
    sockets[1] = -1;
  }

  ConnectionLimits limits;
  int sockets[2] = {-1, -1};
  std::optional<Connection> connection;
};
} // namespace

TEST(ServingHttp, RequestsFollowOneAnother) {
  Pair pair({.bodyBytes = 5});
  pair.send("\r\nPOST / HTTP/1.1\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n");
  std::string head, body;
  ASSERT_TRUE(pair.connection->waitForRequest());
  ASSERT_EQ(pair.connection->readHead(head), Connection::Read::Whole);
  EXPECT_EQ(head, "POST / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(pair.connection->isAtRequestEnd());
  pair.connection->beginBody(5, /*expectsContinue=*/true);
  EXPECT_EQ(pair.receive(), "");
  ASSERT_EQ(pair.connection->readBody(body), Connection::Read::Whole);
  EXPECT_EQ(pair.receive(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(body, "hello");
  EXPECT_TRUE(pair.connection->isAtRequestEnd());
  head.clear();
  ASSERT_TRUE(pair.connection->waitForRequest());
  ASSERT_EQ(pair.connection->readHead(head), Connection::Read::Whole);
  EXPECT_EQ(head, "GET / HTTP/1.1\r\n\r\n");
  pair.connection->beginBody(6, false);
  EXPECT_EQ(pair.connection->readBody(body), Connection::Read::TooLarge);
  EXPECT_FALSE(pair.connection->isAtRequestEnd());
}

TEST(ServingHttp, WhatEndsEarlyIsIncomplete) {
  std::string head, body;
  {
    Pair pair({});
    pair.send("GET / HTTP/1.1\r\n");
    pair.close();
    ASSERT_TRUE(pair.connection->waitForRequest());
    EXPECT_EQ(pair.connection->readHead(head), Connection::Read::Incomplete);
  }
  Pair pair({});
  pair.send("5\r\nhel");
  pair.close();
  ASSERT_TRUE(pair.connection->waitForRequest());
  pair.connection->beginBody({}, false);
  EXPECT_EQ(pair.connection->readBody(body), Connection::Read::Incomplete);
  EXPECT_FALSE(pair.connection->isAtRequestEnd());
}

TEST(ServingHttp, HeadsAreBounded) {
  std::string head;
  {
    Pair pair({.headBytes = 64});
    pair.send("GET / HTTP/1.1\r\nA: " + std::string(100, 'a'));
    ASSERT_TRUE(pair.connection->waitForRequest());
    EXPECT_EQ(pair.connection->readHead(head), Connection::Read::TooLarge);
    EXPECT_EQ(head.size(), 64u);
  }
  Pair pair({});
  pair.send("GET / HTTP/1.1\nA: b\n\n");
  ASSERT_TRUE(pair.connection->waitForRequest());
  EXPECT_EQ(pair.connection->readHead(head), Connection::Read::Malformed);
}
