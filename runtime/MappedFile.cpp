//===- MappedFile.cpp - A file mapped for reading -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gist;

MappedFile::~MappedFile() {
  if (content.size != 0)
    munmap(const_cast<uint8_t *>(content.data), content.size);
}

Status MappedFile::open(const std::string &path, MappedFile &out) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status::error(errno == ENOENT ? Code::NotFound : Code::Io, "%s: %s",
                         path.c_str(), std::strerror(errno));
  struct stat info = {};
  void *address = nullptr;
  bool isRegular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  if (isRegular && info.st_size > 0)
    address = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ,
                   MAP_PRIVATE, file, 0);
  int error = errno;
  close(file); // The mapping keeps the file.
  if (!isRegular)
    return Status::error(Code::Io, "%s: not a regular file", path.c_str());
  if (address == MAP_FAILED)
    return Status::error(Code::Io, "%s: %s", path.c_str(),
                         std::strerror(error));
  MappedFile mapped;
  mapped.content = {static_cast<const uint8_t *>(address),
                    static_cast<uint64_t>(info.st_size)};
  out = std::move(mapped);
  return {};
}
