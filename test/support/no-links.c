// Preloaded: a file system without hard and symbolic links. Every call that makes one fails with the number in NO_LINKS,
// and with NO_MODES every call that sets the mode of an open file.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(void) {
  const char *number = getenv("NO_LINKS");
  errno = number ? atoi(number) : ENOTSUP;
  return -1;
}

int link(const char *from, const char *to) { (void)from; (void)to; return refuse(); }
int symlink(const char *from, const char *to) { (void)from; (void)to; return refuse(); }
int linkat(int fd, const char *from, int other, const char *to, int flags) {
  (void)fd; (void)from; (void)other; (void)to; (void)flags;
  return refuse();
}
int symlinkat(const char *from, int fd, const char *to) { (void)from; (void)fd; (void)to; return refuse(); }
int fchmod(int fd, unsigned int mode) { return getenv("NO_MODES") ? refuse() : (int)syscall(SYS_fchmod, fd, mode); }
