//===- File.cpp - whole files in and out ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Support/File.h"
#include "aicf/Support/BadAlloc.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aicf {
namespace {

/// Closes on every way out.
struct Descriptor {
  int fd;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

Status systemError(const char *what, const std::string &path) {
  return makeError(StatusCode::DeviceError, "cannot ", what, " '", path,
                   "': ", std::strerror(errno));
}

Status writeAll(int fd, Span<const uint8_t> bytes, const std::string &path,
                bool sync) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return systemError("write", path);
    done += static_cast<size_t>(n);
  }
  return !sync || ::fsync(fd) == 0 ? Status() : systemError("sync", path);
}

} // namespace

static StatusOr<std::vector<uint8_t>> readAll(const std::string &path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
    return systemError("open", path);
  if (!S_ISREG(info.st_mode))
    return makeError(StatusCode::DeviceError, "cannot read '", path,
                     "': not a regular file");
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return systemError("read", path);
    if (n == 0)
      return makeError(StatusCode::DeviceError, "cannot read '", path,
                       "': ends after ", done, " of ", bytes.size(), " bytes");
    done += static_cast<size_t>(n);
  }
  return bytes;
}

StatusOr<std::vector<uint8_t>> readFile(const std::string &path) {
  return catchBadAlloc([&] { return readAll(path); });
}

/// Writes into what is there: a pipe, a device.
static Status writeThrough(const std::string &path, Span<const uint8_t> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.fd < 0)
    return systemError("open", path);
  return writeAll(file.fd, bytes, path, /*sync=*/false);
}

static Status replaceFile(const std::string &path, Span<const uint8_t> bytes) {
  static std::atomic<unsigned> counter{0};
  std::string temporary = path + ".tmp." + std::to_string(::getpid()) + "." +
                          std::to_string(counter++);
  Status written;
  {
    Descriptor file(::open(temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.fd < 0)
      return systemError("create", temporary);
    written = writeAll(file.fd, bytes, temporary, /*sync=*/true);
  }
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = systemError("rename to", path);
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor directory(::open(folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (directory.fd >= 0 && ::fsync(directory.fd) != 0)
    return systemError("sync", folder);
  return {};
}

Status writeFileAtomically(const std::string &path, Span<const uint8_t> bytes) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return replaceFile(path, bytes);
  if (!S_ISREG(info.st_mode))
    return writeThrough(path, bytes);
  // The file behind a link is replaced, not the link.
  char *real = ::realpath(path.c_str(), nullptr);
  std::string target = real ? real : path;
  std::free(real);
  return replaceFile(target, bytes);
}

} // namespace aicf
