//===- Connection.cpp - One client's socket, with limits ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Connection.h"
#include "tools/serving/Http.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gist::serve;

static thread_local Connection *currentConnection = nullptr;

Connection *Connection::current() { return currentConnection; }

Connection::Connection(int socket, const ConnectionLimits &limits)
    : handle(socket), limits(limits), buffer(size_t{16} << 10) {
  currentConnection = this;
}

/// Closing a socket with unread bytes sends a reset, and a client that is still
/// sending may then lose the answer, such as a 413. So incoming bytes are read
/// for a moment before the socket is closed.
Connection::~Connection() {
  currentConnection = nullptr;
  ::shutdown(handle, SHUT_WR);
  Clock::time_point until = Clock::now() + std::chrono::seconds(1);
  size_t budget = limits.bodyBytes;
  while (budget > 0 && waitFor(POLLIN, until)) {
    ssize_t count = ::recv(handle, buffer.data(), buffer.size(), 0);
    if (count <= 0)
      break;
    budget -= std::min(budget, static_cast<size_t>(count));
  }
  ::close(handle);
}

void Connection::interrupt() { ::shutdown(handle, SHUT_RDWR); }

/// False when the time is over first.
bool Connection::waitFor(short what, Clock::time_point until) const {
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd entry = {handle, what, 0};
    int timeout = static_cast<int>(std::min<int64_t>(left.count() + 1, 60000));
    int result = ::poll(&entry, 1, timeout);
    if (result > 0)
      return true; // The next read or write finds an error.
    if (result < 0 && errno != EINTR)
      return false;
  }
}

/// Receives at least one byte.
bool Connection::fill(Clock::time_point until) {
  while (waitFor(POLLIN, until)) {
    ssize_t count = ::recv(handle, buffer.data(), buffer.size(), 0);
    if (count > 0) {
      begin = 0;
      end = static_cast<size_t>(count);
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR))
      return false;
  }
  return false;
}

bool Connection::waitForRequest() {
  if (begin == end && !fill(Clock::now() + limits.idle))
    return false;
  Clock::time_point now = Clock::now();
  readDeadline = now + limits.read;
  answerDeadline = now + limits.read + limits.request;
  // Until a head was understood, the end of its request is not known.
  hasLength = false;
  return true;
}

Connection::Read Connection::readHead(std::string &head) {
  for (size_t left = limits.headBytes; left > 0; --left) {
    if (begin == end && !fill(readDeadline))
      return Read::Incomplete;
    head += buffer[begin++];
    if (head.back() != '\n')
      continue;
    if (!head.ends_with("\r\n"))
      return Read::Malformed;
    // Some clients send an empty line behind the body before.
    if (head.size() == 2)
      head.clear();
    if (head.ends_with("\r\n\r\n"))
      return Read::Whole;
  }
  return Read::TooLarge;
}

void Connection::beginBody(std::optional<uint64_t> bytes, bool isExpecting) {
  hasLength = bytes.has_value();
  bodyLeft = bytes.value_or(0);
  expectsContinue = isExpecting;
}

Connection::Read Connection::readBody(std::string &body) {
  if (hasLength && bodyLeft > limits.bodyBytes)
    return Read::TooLarge;
  if (expectsContinue && !write("HTTP/1.1 100 Continue\r\n\r\n"))
    return Read::Incomplete;
  ChunkedBody chunks(limits.bodyBytes);
  while (!hasLength || bodyLeft > 0) {
    if (begin == end && !fill(readDeadline))
      return Read::Incomplete;
    std::string_view bytes(buffer.data() + begin, end - begin);
    if (hasLength) {
      bytes = bytes.substr(0, bodyLeft);
      body += bytes;
      bodyLeft -= bytes.size();
    }
    begin += bytes.size();
    if (hasLength)
      continue;
    switch (chunks.take(bytes, body)) {
    case ChunkedBody::State::Incomplete:
      break;
    case ChunkedBody::State::Whole:
      return Read::Whole;
    case ChunkedBody::State::Malformed:
      return Read::Malformed;
    case ChunkedBody::State::TooLarge:
      return Read::TooLarge;
    }
  }
  return Read::Whole;
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::send(handle, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno != EAGAIN)
      return false;
    auto until =
        std::min(Clock::now() + limits.write, answerDeadline + limits.write);
    if (!waitFor(POLLOUT, until))
      return false;
  }
  return true;
}

bool Connection::isGone() const {
  pollfd entry = {handle, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0 &&
         (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

std::string Connection::peer() const {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  char text[INET6_ADDRSTRLEN] = "";
  if (::getpeername(handle, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return text;
  if (address.ss_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in *>(&address)->sin_addr,
                text, sizeof text);
  else if (address.ss_family == AF_INET6)
    ::inet_ntop(AF_INET6,
                &reinterpret_cast<sockaddr_in6 *>(&address)->sin6_addr, text,
                sizeof text);
  return text;
}
