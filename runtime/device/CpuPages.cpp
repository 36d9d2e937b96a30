//===- CpuPages.cpp - Pages of a file in memory ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuPages.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace gist;

/// An address of this device is one of this process.
static char *toPointer(DeviceAddress address) {
  return reinterpret_cast<char *>(address); // NOLINT(performance-no-int-to-ptr)
}

/// How many mappings the system lets a process have; Linux's default where it
/// does not say.
static uint64_t mostMappings() {
  unsigned long most = 65530;
  if (FILE *file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
    if (std::fscanf(file, "%lu", &most) != 1)
      most = 65530;
    std::fclose(file);
  }
  return most;
}

namespace {
class CpuPages final : public PageStore {
public:
  explicit CpuPages(int file)
      : file(file), page(static_cast<uint64_t>(::sysconf(_SC_PAGESIZE))),
        most(mostMappings()) {}
  ~CpuPages() override { ::close(file); }

  Status store(uint64_t offset, DeviceAddress from, uint64_t size) override;
  Status load(uint64_t offset, DeviceAddress to, uint64_t size) override;
  Status show(uint64_t offset, DeviceAddress at, uint64_t size) override;
  void forget(uint64_t offset, uint64_t size) override;
  uint64_t pageSize() const override { return page; }
  // A piece inside of other memory makes three mappings of one, and the rest of
  // the process has mappings too.
  uint64_t mostShown() const override { return most / 4; }

private:
  int file;
  uint64_t page, most;
};
} // namespace

std::unique_ptr<PageStore> gist::openCpuPages() {
  int file = ::memfd_create("gist-state", MFD_CLOEXEC);
  return file < 0 ? nullptr : std::make_unique<CpuPages>(file);
}

/// Calls `move`, which is pread or pwrite, until all bytes were moved.
template <typename Move>
static Status moveAll(uint64_t offset, DeviceAddress at, uint64_t size,
                      const char *what, Move move) {
  while (size != 0) {
    ssize_t count = move(toPointer(at), size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Status::error(Code::OutOfMemory,
                           "cannot %s %" PRIu64 " bytes of state: %s", what,
                           size, std::strerror(errno));
    at += static_cast<uint64_t>(count);
    offset += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
  return {};
}

Status CpuPages::store(uint64_t offset, DeviceAddress from, uint64_t size) {
  return moveAll(offset, from, size, "keep",
                 [this](const char *bytes, size_t count, off_t place) {
                   return ::pwrite(file, bytes, count, place);
                 });
}

Status CpuPages::load(uint64_t offset, DeviceAddress to, uint64_t size) {
  return moveAll(offset, to, size, "read back",
                 [this](char *bytes, size_t count, off_t place) {
                   return ::pread(file, bytes, count, place);
                 });
}

Status CpuPages::show(uint64_t offset, DeviceAddress at, uint64_t size) {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kFlags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(toPointer(at), size, kProtection, kFlags, file,
             static_cast<off_t>(offset)) != MAP_FAILED)
    return {};
  // The memory is as it was where the mappings ran out, but the system may have
  // taken it away.
  std::vector<unsigned char> pages(size / page);
  if (::mincore(toPointer(at), size, pages.data()) != 0 &&
      ::mmap(toPointer(at), size, kProtection, kFlags | MAP_ANONYMOUS, -1, 0) ==
          MAP_FAILED)
    return Status::error(Code::OutOfMemory, "cannot map %" PRIu64 " bytes: %s",
                         size, std::strerror(errno));
  return load(offset, at, size);
}

void CpuPages::forget(uint64_t offset, uint64_t size) {
  // A page that stays because of an error is lost until the store is closed.
  (void)::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(offset), static_cast<off_t>(size));
}
