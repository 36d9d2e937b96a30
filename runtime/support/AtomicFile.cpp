//===- AtomicFile.cpp - A file that appears whole or not at all -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "runtime/support/TextBytes.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gist;

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status AtomicFile::failed(const char *what) const {
  return Status::error(Code::Io, "%s: cannot %s: %s", path.c_str(), what,
                       std::strerror(errno));
}

Status AtomicFile::open(const std::string &destination) {
  path = destination;
  size_t slash = path.rfind('/');
  folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      errno = EISDIR;
      return failed("write");
    }
    // A device must not be replaced by a file of its name.
    if (S_ISCHR(info.st_mode)) {
      isDevice = true;
      descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      return descriptor < 0 ? failed("write") : Status();
    }
    if (!S_ISREG(info.st_mode))
      return Status::error(Code::Io, "%s: is not a regular file", path.c_str());
  }
  // A file without a name vanishes with the process. Not every file system
  // supports that; then the file gets a descriptive temporary name.
  descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor >= 0)
    return {};
  // The first is a file system without nameless files; a kernel that does not
  // know the flag sees a folder opened for writing. The rest are real errors of
  // the folder, such as missing rights.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    return failed("write");
  // It stands in the same folder, because rename() does not cross file systems.
  temporary = path + ".tmp-" + std::to_string(::getpid());
  descriptor =
      ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    temporary.clear();
    return failed("write");
  }
  return {};
}

Status AtomicFile::write(Bytes bytes) {
  while (bytes.size != 0) {
    // Large single writes are cut short by the kernel anyway.
    uint64_t piece = std::min<uint64_t>(bytes.size, 1u << 30);
    ssize_t count = ::write(descriptor, bytes.data, piece);
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return failed("write");
    }
    bytes.data += count;
    bytes.size -= static_cast<uint64_t>(count);
    written += static_cast<uint64_t>(count);
  }
  return {};
}

Status AtomicFile::rewrite(uint64_t offset, Bytes bytes) {
  while (bytes.size != 0) {
    ssize_t count = ::pwrite(descriptor, bytes.data, bytes.size,
                             static_cast<off_t>(offset));
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return failed("write");
    }
    bytes.data += count;
    bytes.size -= static_cast<uint64_t>(count);
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

/// A nameless file cannot replace another one directly: it gets a name first.
Status AtomicFile::giveTemporaryName() {
  // linkat() on the descriptor itself (AT_EMPTY_PATH) needs a privilege; the
  // link in /proc does not.
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::string name = path + ".tmp-" + std::to_string(::getpid());
  if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(),
               AT_SYMLINK_FOLLOW) != 0)
    return failed("name");
  temporary = name;
  return {};
}

Status AtomicFile::commit() {
  if (isDevice)
    return {};
  // The content must be on the disk before the name is: after a power cut the
  // name would else stand for an empty file.
  if (::fsync(descriptor) != 0)
    return failed("write");
  if (temporary.empty())
    GIST_TRY(giveTemporaryName());
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return failed("name");
  temporary.clear();
  // A close that fails after fsync loses nothing.
  ::close(descriptor);
  descriptor = -1;
  // The new name must survive a power cut too. Some file systems cannot sync a
  // folder; the content is safe either way.
  int folderDescriptor = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (folderDescriptor >= 0) {
    (void)::fsync(folderDescriptor);
    ::close(folderDescriptor);
  }
  return {};
}

/// For callers that compute for long before they write. Nothing is committed,
/// so the folder stays as it was.
Status gist::checkWritable(const std::string &path) {
  AtomicFile file;
  return file.open(path);
}

Status gist::writeWhole(const std::string &path, std::string_view content) {
  AtomicFile file;
  GIST_TRY(file.open(path));
  GIST_TRY(file.write(bytesOf(content)));
  return file.commit();
}
