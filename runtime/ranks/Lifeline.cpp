//===- Lifeline.cpp - Which ranks are still alive -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/Lifeline.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

using namespace gist;
using Clock = std::chrono::steady_clock;

/// The interval of heartbeats, and how long they may be missing: a job has to
/// end within five seconds after a rank has stopped.
static constexpr std::chrono::milliseconds kBeat(250);
static constexpr std::chrono::milliseconds kSilence(3500);
/// For ranks to find each other when a job begins.
static constexpr std::chrono::seconds kArrival(60);

namespace {
/// Before the text of a frame.
struct FrameHead {
  uint32_t about = 0; ///< a rank
  uint16_t size = 0;  ///< of the text
  uint8_t kind = 0;
  uint8_t unused = 0;
};
/// The first message of a rank that connects.
struct Greeting {
  std::array<uint64_t, 2> secret;
  uint32_t rank;
};
} // namespace

static Status socketError(const char *what) {
  return Status::error(Code::Io, "ranks: cannot %s: %s", what,
                       std::strerror(errno));
}

/// Sends or receives all of it, or says that it did not.
template <typename Function, typename T>
static bool transfer(Function function, int socket, T &value) {
  auto *at = reinterpret_cast<char *>(&value);
  for (size_t done = 0; done < sizeof value;) {
    ssize_t count = function(socket, at + done, sizeof value - done, 0);
    if (count <= 0)
      return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

static void limitTime(int socket, std::chrono::seconds time) {
  struct timeval limit = {time.count(), 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static void findAddresses(bool isLocal, Meeting &meeting) {
  size_t count = 0;
  meeting.addresses[count++] = htonl(INADDR_LOOPBACK);
  struct ifaddrs *all = nullptr;
  if (isLocal || ::getifaddrs(&all) != 0)
    return;
  for (struct ifaddrs *at = all; at; at = at->ifa_next) {
    if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET ||
        count == Meeting::kMostAddresses)
      continue;
    uint32_t address =
        reinterpret_cast<struct sockaddr_in *>(at->ifa_addr)->sin_addr.s_addr;
    if (address != htonl(INADDR_LOOPBACK))
      meeting.addresses[count++] = address;
  }
  ::freeifaddrs(all);
}

Status Lifeline::open(uint32_t size, bool isLocal, Meeting &meeting,
                      std::unique_ptr<Lifeline> &result) {
  std::unique_ptr<Lifeline> line(new Lifeline(0));
  line->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line->listener < 0)
    return socketError("make a socket");
  struct sockaddr_in own = {};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(isLocal ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t length = sizeof own;
  if (::bind(line->listener, reinterpret_cast<struct sockaddr *>(&own),
             sizeof own) != 0 ||
      ::listen(line->listener, static_cast<int>(size)) != 0 ||
      ::getsockname(line->listener, reinterpret_cast<struct sockaddr *>(&own),
                    &length) != 0)
    return socketError("wait for other ranks");
  limitTime(line->listener, kArrival);
  std::random_device random;
  for (uint64_t &word : line->place.secret)
    word = (uint64_t{random()} << 32) | random();
  line->place.port = ntohs(own.sin_port);
  findAddresses(isLocal, line->place);
  line->peers.resize(size - 1);
  for (uint32_t i = 0; i < size - 1; ++i)
    line->peers[i].rank = i + 1;
  meeting = line->place;
  result = std::move(line);
  return {};
}

Status Lifeline::accept() {
  Clock::time_point end = Clock::now() + kArrival;
  for (size_t missing = peers.size(); missing != 0;) {
    int came = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (came < 0 || Clock::now() > end)
      return Status::error(Code::Io,
                           "%zu of %zu other ranks have not come to rank 0 "
                           "within %lld s",
                           missing, peers.size(),
                           static_cast<long long>(kArrival.count()));
    limitTime(came, std::chrono::seconds(2));
    Greeting greeting;
    auto at = peers.end();
    if (transfer(::recv, came, greeting) && greeting.secret == place.secret)
      at = std::find_if(peers.begin(), peers.end(), [&](const Peer &peer) {
        return peer.rank == greeting.rank && peer.socket < 0;
      });
    // Not a rank of this job.
    if (at == peers.end()) {
      ::close(came);
      continue;
    }
    at->socket = came;
    --missing;
  }
  ::close(listener);
  listener = -1;
  return {};
}

Status Lifeline::connect(uint32_t rank, const Meeting &meeting,
                         std::unique_ptr<Lifeline> &result) {
  std::unique_ptr<Lifeline> line(new Lifeline(rank));
  line->peers.resize(1);
  Peer &root = line->peers.front();
  for (uint32_t address : meeting.addresses) {
    if (address == 0 || root.socket >= 0)
      continue;
    int own = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (own < 0)
      return socketError("make a socket");
    limitTime(own, std::chrono::seconds(2));
    struct sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(meeting.port);
    to.sin_addr.s_addr = address;
    Greeting greeting{meeting.secret, rank};
    if (::connect(own, reinterpret_cast<struct sockaddr *>(&to), sizeof to) ==
            0 &&
        transfer([](int socket, const void *data, size_t size,
                    int) { return ::send(socket, data, size, MSG_NOSIGNAL); },
                 own, greeting))
      root.socket = own;
    else
      ::close(own);
  }
  if (root.socket < 0)
    return Status::error(
        Code::Io, "rank %u cannot reach rank 0 at any of its addresses", rank);
  result = std::move(line);
  return {};
}

void Lifeline::start(OnFailure called, WorkWatch *watched) {
  onFailure = std::move(called);
  work = watched;
  for (Peer &peer : peers) {
    int one = 1;
    ::setsockopt(peer.socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    ::fcntl(peer.socket, F_SETFL, ::fcntl(peer.socket, F_GETFL) | O_NONBLOCK);
    peer.heard = Clock::now();
  }
  watcher = std::thread([this] { watch(); });
}

Lifeline::~Lifeline() {
  isEnding = true;
  if (watcher.joinable())
    watcher.join();
  for (Peer &peer : peers) {
    if (peer.socket < 0)
      continue;
    send(peer, Kind::Over, rank, "");
    ::close(peer.socket);
  }
  if (listener >= 0)
    ::close(listener);
}

Status Lifeline::failure() const {
  std::lock_guard lock(mutex);
  return Status::error(Code::Io, "%s", sentence.c_str());
}

void Lifeline::report(const std::string &why) {
  // What others already know need not be said again.
  if (hasFailed())
    return;
  note(rank, "rank " + std::to_string(rank) + " cannot go on: " + why);
  if (rank != 0)
    send(peers.front(), Kind::Failed, rank, failure().text);
}

void Lifeline::checkWork() {
  using std::chrono::milliseconds;
  milliseconds time = work ? work->hangsFor() : milliseconds();
  if (time.count() == 0 || hasFailed())
    return;
  std::string text = "rank " + std::to_string(rank) +
                     " hangs: its work has stood still for " +
                     std::to_string(time.count()) + " ms";
  if (rank != 0)
    send(peers.front(), Kind::Failed, rank, text);
  note(rank, text);
  // The thread that hangs cannot end this process.
  if (onFailure)
    onFailure(text, rank == 0);
}

void Lifeline::note(uint32_t about, const std::string &text, bool isNews) {
  {
    std::lock_guard lock(mutex);
    if (isFailed)
      return;
    sentence = text;
    isFailed.store(true, std::memory_order_release);
  }
  if (rank == 0)
    for (Peer &peer : peers)
      if (peer.rank != about)
        send(peer, Kind::Failed, about, text);
  // A rank that reports its own failure knows of it already.
  bool speaks = rank == 0 || (rank == 1 && about == 0 && isNews);
  if (onFailure && about != rank)
    onFailure(text, speaks && !wasStopped);
}

/// A frame is small and the send buffer nearly always empty. A frame that does
/// not fit is dropped: the other end does not read then, and counts as silent
/// itself.
void Lifeline::send(Peer &peer, Kind kind, uint32_t about,
                    const std::string &text) {
  FrameHead head;
  head.about = about;
  head.kind = static_cast<uint8_t>(kind);
  head.size = static_cast<uint16_t>(std::min<size_t>(text.size(), 4096));
  std::string frame(reinterpret_cast<const char *>(&head), sizeof head);
  frame.append(text, 0, head.size);
  std::lock_guard lock(mutex);
  (void)!::send(peer.socket, frame.data(), frame.size(), MSG_NOSIGNAL);
}

void Lifeline::takeFrames(Peer &peer) {
  FrameHead head;
  while (peer.unread.size() >= sizeof head) {
    std::memcpy(&head, peer.unread.data(), sizeof head);
    size_t whole = sizeof head + head.size;
    if (peer.unread.size() < whole)
      return;
    std::string text(reinterpret_cast<const char *>(peer.unread.data()) +
                         sizeof head,
                     head.size);
    peer.unread.erase(peer.unread.begin(),
                      peer.unread.begin() + static_cast<ptrdiff_t>(whole));
    if (head.kind == static_cast<uint8_t>(Kind::Over))
      peer.isOver = true;
    else if (head.kind == static_cast<uint8_t>(Kind::Failed))
      note(head.about, text, /*isNews=*/false);
  }
}

void Lifeline::readFrom(Peer &peer) {
  std::array<uint8_t, 4096> bytes;
  ssize_t count = ::recv(peer.socket, bytes.data(), bytes.size(), 0);
  if (count > 0) {
    peer.heard = Clock::now();
    peer.unread.insert(peer.unread.end(), bytes.begin(), bytes.begin() + count);
    takeFrames(peer);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    if (!peer.isOver && wasStopped)
      note(rank, "this rank was stopped, and the others ended without it");
    else if (!peer.isOver)
      note(peer.rank, "rank " + std::to_string(peer.rank) +
                          " is gone: its process has ended");
    peer.isOver = true;
  }
}

void Lifeline::watch() {
  Clock::time_point next = Clock::now();
  while (!isEnding) {
    if (Clock::now() >= next) {
      for (Peer &peer : peers)
        if (!peer.isOver)
          send(peer, Kind::Alive, rank, "");
      next = Clock::now() + kBeat;
    }
    std::vector<struct pollfd> polled;
    for (Peer &peer : peers)
      polled.push_back({peer.isOver ? -1 : peer.socket, POLLIN, 0});
    // Short, so that the end of a job does not wait for it.
    Clock::time_point before = Clock::now();
    ::poll(polled.data(), polled.size(), 20);
    // A process that was stopped, or a machine that slept, has received no
    // heartbeats.
    Clock::duration away = Clock::now() - before;
    if (away > kBeat * 4) {
      for (Peer &peer : peers)
        peer.heard = Clock::now();
      if (work)
        work->restart();
    }
    // The other ranks have declared this one gone, or are about to.
    wasStopped |= away > kSilence - kBeat * 2;
    checkWork();
    for (size_t i = 0; i < peers.size(); ++i) {
      Peer &peer = peers[i];
      if (polled[i].revents != 0)
        readFrom(peer);
      if (!peer.isOver && Clock::now() - peer.heard > kSilence)
        note(peer.rank, "rank " + std::to_string(peer.rank) +
                            " has not answered for " +
                            std::to_string(kSilence.count()) + " ms");
    }
  }
}
