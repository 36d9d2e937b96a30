//===- MappedFile.cpp - A file as memory ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/MappedFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gist;

Status MappedFile::open(const std::string &path,
                        std::unique_ptr<MappedFile> &result) {
  auto failed = [&](const char *what) {
    // The caller adds the path with Status::in: it knows what the file is for.
    return Status::error(errno == ENOENT ? Code::NotFound : Code::Io,
                         "cannot %s: %s", what, std::strerror(errno));
  };
  // A module or an index can name a pipe: that is refused below, not waited
  // for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failed("open");
  struct stat info;
  Status status;
  Bytes content;
  if (::fstat(descriptor, &info) != 0) {
    status = failed("read");
  } else if (!S_ISREG(info.st_mode)) {
    status = Status::error(Code::BadFile, "is not a regular file");
  } else if (info.st_size != 0) { // an empty range cannot be mapped
    content.size = static_cast<uint64_t>(info.st_size);
    void *memory =
        ::mmap(nullptr, content.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED)
      status = failed("map");
    else
      content.data = static_cast<const uint8_t *>(memory);
  }
  // The mapping holds the file by itself.
  ::close(descriptor);
  if (status.ok())
    result.reset(new MappedFile(content));
  return status;
}

MappedFile::~MappedFile() {
  if (content.data)
    ::munmap(const_cast<uint8_t *>(content.data), content.size);
}
