/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <tsanom/regions.h>
#include <unistd.h>

icp_slot icp_slots[ICP_SLOTS];
static uint32_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The file, kept open: another run may take its name. */
static int kept = -1;
static dev_t device;
static ino_t inode;

/* Whether the descriptor still is that of the file: the program may have closed it. */
static bool is_ours(void) {
  struct stat facts;
  return fstat(kept, &facts) == 0 && facts.st_dev == device && facts.st_ino == inode;
}

int icp_places_start(const char *folder) {
  static const char head[] = "tsanom places 1\n";
  enum { FIRST_NUMBER = 256 }; /* out of the way of the program's own files */
  char path[PATH_MAX];
  struct stat facts;
  int length = snprintf(path, sizeof path, "%s/places.tsv", folder);
  if (length < 0 || (size_t)length >= sizeof path) return ENAMETOOLONG;
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  kept = fcntl(file, F_DUPFD_CLOEXEC, FIRST_NUMBER);
  if (kept < 0) {
    kept = file;
  } else {
    close(file);
  }
  if (fstat(kept, &facts) != 0) return errno;
  device = facts.st_dev;
  inode = facts.st_ino;
  ssize_t written = write(kept, head, sizeof head - 1);
  return written == (ssize_t)sizeof head - 1 ? 0 : ENOSPC;
}

/* The file of the module at `base`, whose loader calls it `name`. The program
 * itself goes by whatever its caller wrote for argv[0]. */
static const char *module_file(const void *base, const char *name,
                               char resolved[PATH_MAX]) {
  Dl_info program;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes it so */
  const void *headers = (const void *)getauxval(AT_PHDR);
  if (dladdr(headers, &program) != 0 && program.dli_fbase == base) {
    ssize_t length = readlink("/proc/self/exe", resolved, PATH_MAX - 1);
    if (length > 0) {
      resolved[length] = '\0';
      return resolved;
    }
  }
  return realpath(name, resolved) ? resolved : name;
}

/* One line, by one write: a process that is killed leaves whole lines. Tabs and
 * line ends in the module's path would break it, and become question marks. */
static void write_line(uint32_t number, uintptr_t address, int kind, bool is_call) {
  char line[PATH_MAX + 64], resolved[PATH_MAX];
  const char *name = "?";
  uintptr_t linked = address;
  Dl_info module;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer */
  if (dladdr((const void *)address, &module) != 0 && module.dli_fbase) {
    const ElfW(Ehdr) *header = module.dli_fbase;
    if (header->e_type != ET_EXEC) linked -= (uintptr_t)module.dli_fbase;
    name = module_file(module.dli_fbase, module.dli_fname, resolved);
  }
  int length = snprintf(line, sizeof line, "%" PRIu32 "\t%c%c\t%" PRIxPTR "\t%s\n",
                        number, kind == TSANOM_REGIONS_BEGIN ? 'r' : 's',
                        is_call ? 'c' : 'f', linked, name);
  if (length < 0 || (size_t)length >= sizeof line) return;
  int tabs = 0;
  for (char *c = line; c < line + length - 1; c++) {
    if (*c == '\n' || (*c == '\t' && ++tabs > 3)) *c = '?';
  }
  if (!is_ours()) return;
  ssize_t written = write(kept, line, (size_t)length);
  (void)written; /* a full disk: the reader gives the place no name */
}

static icp_slot *find(uintptr_t address) {
  for (uint32_t at = icp_slot_of(address);; at = (at + 1) % ICP_SLOTS) {
    uintptr_t there = atomic_load_explicit(&icp_slots[at].address, memory_order_acquire);
    if (there == address || there == 0) return &icp_slots[at];
  }
}

static uint32_t add(uintptr_t address, int kind, bool is_call) {
  uint32_t number = TSANOM_REGIONS_PLACES_MAX - 1;
  int error = errno;
  pthread_mutex_lock(&lock);
  icp_slot *place = find(address);
  if (atomic_load_explicit(&place->address, memory_order_relaxed)) {
    number = place->number;
  } else if (used < TSANOM_REGIONS_PLACES_MAX - 1) {
    number = used++;
    place->number = number;
    write_line(number, address, kind, is_call);
    atomic_store_explicit(&place->address, address, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return number;
}

uint32_t icp_place_elsewhere(uintptr_t address, int kind, bool is_call) {
  const icp_slot *place = find(address);
  bool known = atomic_load_explicit(&place->address, memory_order_relaxed) != 0;
  return known ? place->number : add(address, kind, is_call);
}
