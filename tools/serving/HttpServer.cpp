//===- HttpServer.cpp - Connections and their requests --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/HttpServer.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gist;
using namespace gist::serve;

HttpServer::HttpServer(const ConnectionLimits &limits, size_t maxConnections)
    : limits(limits), maxConnections(maxConnections) {}

HttpServer::~HttpServer() {
  stop(std::chrono::milliseconds(0));
  if (listener >= 0)
    ::close(listener);
  if (wake >= 0)
    ::close(wake);
}

Status HttpServer::bind(const std::string &host, int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo *found = nullptr;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(),
                                &hints, &found))
    return Status::error(Code::BadArgument, "'%s' is not an address: %s",
                         host.c_str(), ::gai_strerror(error));
  int handle = -1, error = 0;
  for (addrinfo *at = found; at && handle < 0; at = at->ai_next) {
    handle =
        ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                 at->ai_protocol);
    int yes = 1;
    // Connections of a server that just ended do not hold its port.
    if (handle >= 0)
      ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (handle >= 0 && (::bind(handle, at->ai_addr, at->ai_addrlen) != 0 ||
                        ::listen(handle, SOMAXCONN) != 0)) {
      error = errno;
      ::close(handle);
      handle = -1;
    }
  }
  ::freeaddrinfo(found);
  if (handle < 0)
    return Status::error(Code::Io, "cannot listen on %s, port %d: %s",
                         host.c_str(), port, std::strerror(error));
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (::getsockname(handle, reinterpret_cast<sockaddr *>(&address), &size) == 0)
    boundPort = ntohs(address.ss_family == AF_INET6
                          ? reinterpret_cast<sockaddr_in6 &>(address).sin6_port
                          : reinterpret_cast<sockaddr_in &>(address).sin_port);
  wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    ::close(handle);
    return Status::error(Code::Io, "cannot make an event: %s",
                         std::strerror(errno));
  }
  listener = handle;
  return {};
}

void HttpServer::start() {
  acceptor = std::thread([this] { acceptAll(); });
}

/// Refuses a client when all threads are taken. The answer fits in the buffer
/// of a new socket, so the call does not block.
void HttpServer::refuse(int socket) const {
  static constexpr char kAnswer[] =
      "HTTP/1.1 503 Service Unavailable\r\n"
      "Content-Type: application/json\r\nContent-Length: 121\r\n"
      "Retry-After: 1\r\nConnection: close\r\n\r\n"
      "{\"error\":{\"message\":\"There are too many connections.\","
      "\"type\":\"server_error\",\"param\":null,"
      "\"code\":\"too_many_connections\"}}\n";
  (void)::send(socket, kAnswer, sizeof kAnswer - 1, MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  ::close(socket);
}

void HttpServer::acceptAll() {
  while (true) {
    pollfd entries[] = {{listener, POLLIN, 0}, {wake, POLLIN, 0}};
    ::poll(entries, 2, -1);
    if (entries[1].revents != 0)
      return;
    int socket =
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      // Out of file descriptors or memory, until other connections close.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (count >= maxConnections) {
      refuse(socket);
      continue;
    }
    ++count;
    try {
      std::thread([this, socket] {
        serve(socket);
        // The thread's last access to this object: stop() waits for it.
        std::lock_guard lock(mutex);
        --count;
        changed.notify_all();
      }).detach();
    } catch (const std::system_error &) {
      --count;
      refuse(socket);
    }
  }
}

/// Sends the pieces of an answer as they come; false: the client is gone.
static bool sendPieces(const HttpResponse &response, Connection &connection) {
  for (bool isLast = false; !isLast;) {
    if (connection.isGone())
      return false;
    std::string piece;
    isLast = response.next(piece);
    if (!piece.empty() && !connection.write(writeChunk(piece)))
      return false;
  }
  return connection.write(writeChunk({}));
}

static ApiError readRequest(Connection &connection, HttpRequest &request) {
  request.clientHost = connection.peer();
  std::string head;
  switch (connection.readHead(head)) {
  case Connection::Read::Whole:
    break;
  case Connection::Read::Incomplete:
    return {408,
            "invalid_request_error",
            "incomplete_head",
            {},
            "The request did not come whole, or not in time."};
  case Connection::Read::Malformed:
    return ApiError::invalid({}, "The request is not HTTP/1.1.");
  case Connection::Read::TooLarge:
    return ApiError::invalid({}, "The head of the request is too large.");
  }
  GIST_SERVE_TRY(parseHead(head, request));
  connection.beginBody(request.bodyBytes, request.expectsContinue);
  return {};
}

/// Answers a request that has begun to come; true: another one may follow.
bool HttpServer::answer(Connection &connection) {
  HttpRequest request;
  HttpResponse response;
  ApiError fault = readRequest(connection, request);
  handler(request, fault, response);
  bool isLast =
      !fault.ok() || request.isLast || closing || !connection.isAtRequestEnd();
  std::string bytes = writeHead(response, isLast);
  bool hasBody = request.method != "HEAD";
  if (hasBody && !response.next)
    bytes += response.body;
  bool isSent = connection.write(bytes);
  if (isSent && hasBody && response.next)
    isSent = sendPieces(response, connection);
  logger(request, response);
  return isSent && !isLast && !closing;
}

/// Answers the requests of one connection, one after the other.
void HttpServer::serve(int socket) {
  Connection connection(socket, limits);
  {
    std::lock_guard lock(mutex);
    open.insert(&connection);
  }
  for (bool hasNext = true; hasNext && connection.waitForRequest();) {
    ++busy;
    // Memory that ran out ends the connection, not the server.
    try {
      hasNext = answer(connection);
    } catch (const std::exception &) {
      hasNext = false;
    }
    --busy;
  }
  std::lock_guard lock(mutex);
  open.erase(&connection);
}

void HttpServer::stop(std::chrono::milliseconds patience) {
  if (!acceptor.joinable())
    return;
  closing = true;
  uint64_t one = 1;
  (void)!::write(wake, &one, sizeof one);
  acceptor.join();
  auto until = Connection::Clock::now() + patience;
  while (busy > 0 && Connection::Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::unique_lock lock(mutex);
  for (Connection *connection : open)
    connection->interrupt();
  changed.wait(lock, [&] { return count == 0; });
}
