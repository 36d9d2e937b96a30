//===- Connection.cpp - One client's socket, with limits ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Connection.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
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

/// A socket that is closed with bytes unread tells the client so at once, and
/// the client may then not read the answer: a 413 to somebody who still sends.
/// What comes is therefore read for a moment.
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
      return true; // An error is found by whoever reads or writes.
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
  inHead = true;
  headLeft = limits.headBytes;
  // Until a head was understood, nobody knows where its request ends.
  hasLength = false;
  return true;
}

void Connection::beginBody(std::optional<uint64_t> bytes) {
  inHead = false;
  hasLength = bytes.has_value();
  bodyLeft = bytes.value_or(UINT64_MAX);
}

ssize_t Connection::read(char *to, size_t size) {
  uint64_t allowed = inHead ? headLeft : bodyLeft;
  if (allowed == 0 || (begin == end && !fill(readDeadline)))
    return -1;
  size_t count = std::min({size, end - begin, static_cast<size_t>(allowed)});
  std::memcpy(to, buffer.data() + begin, count);
  begin += count;
  if (inHead)
    headLeft -= count;
  else
    bodyLeft -= count;
  return static_cast<ssize_t>(count);
}

/// All of it or an error: a client that takes nothing for too long is gone.
ssize_t Connection::write(const char *from, size_t size) {
  size_t sent = 0;
  while (sent < size) {
    ssize_t count = ::send(handle, from + sent, size - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno != EAGAIN)
      return -1;
    auto until =
        std::min(Clock::now() + limits.write, answerDeadline + limits.write);
    if (!waitFor(POLLOUT, until))
      return -1;
  }
  return static_cast<ssize_t>(sent);
}

bool Connection::isGone() const {
  pollfd entry = {handle, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0 &&
         (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// The address and port of one end of a socket, with the function that asks.
static void nameEnd(int handle, int (*ask)(int, sockaddr *, socklen_t *),
                    std::string &ip, int &port) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  char text[INET6_ADDRSTRLEN] = "";
  if (ask(handle, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return;
  if (address.ss_family == AF_INET) {
    auto *four = reinterpret_cast<sockaddr_in *>(&address);
    ::inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    port = ntohs(four->sin_port);
  } else if (address.ss_family == AF_INET6) {
    auto *six = reinterpret_cast<sockaddr_in6 *>(&address);
    ::inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
    port = ntohs(six->sin6_port);
  }
  ip = text;
}

void Connection::get_remote_ip_and_port(std::string &ip, int &port) const {
  nameEnd(handle, ::getpeername, ip, port);
}

void Connection::get_local_ip_and_port(std::string &ip, int &port) const {
  nameEnd(handle, ::getsockname, ip, port);
}
