/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload after that of `tsanom record`: makes calls of one function fail that
 * the recorder makes. Those of the program, and of other libraries, are as usual.
 *
 *   FAILING=FUNCTION:FIRST:TIMES:ERRNO   TIMES calls fail, from the call FIRST on (0, ...)
 *   FAILING_CALLS=FILE                   the recorder's calls of each, 8 bytes, as FUNCTIONS has them
 *
 * The wrappers take seven words, as many as any of the functions, and hand them on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a call returns that fails: -1 with errno, the error, or NULL with errno. Those with
 * an x are the names of stat() and others before glibc 2.33. */
#define FUNCTIONS                           \
  RETURNS(MINUS, __clone)                   \
  RETURNS(MINUS, __fxstat)                  \
  RETURNS(MINUS, __lxstat)                  \
  RETURNS(MINUS, __xstat)                   \
  RETURNS(MINUS, access)                    \
  RETURNS(ERROR, clock_getcpuclockid)       \
  RETURNS(ERROR, clock_nanosleep)           \
  RETURNS(MINUS, close)                     \
  RETURNS(MINUS, dup2)                      \
  RETURNS(MINUS, execve)                    \
  RETURNS(MINUS, fallocate)                 \
  RETURNS(MINUS, fcntl)                     \
  RETURNS(MINUS, fstat)                     \
  RETURNS(MINUS, ftruncate)                 \
  RETURNS(MINUS, getrlimit)                 \
  RETURNS(MINUS, getrusage)                 \
  RETURNS(MINUS, ioctl)                     \
  RETURNS(MINUS, link)                      \
  RETURNS(MINUS, linkat)                    \
  RETURNS(MINUS, lseek)                     \
  RETURNS(MINUS, lstat)                     \
  RETURNS(MINUS, madvise)                   \
  RETURNS(NOTHING, malloc)                  \
  RETURNS(MINUS, memfd_create)              \
  RETURNS(MINUS, mkdir)                     \
  RETURNS(MINUS, mmap)                      \
  RETURNS(MINUS, mprotect)                  \
  RETURNS(MINUS, munmap)                    \
  RETURNS(MINUS, nanosleep)                 \
  RETURNS(NOTHING, newlocale)               \
  RETURNS(MINUS, open)                      \
  RETURNS(MINUS, openat)                    \
  RETURNS(MINUS, pipe2)                     \
  RETURNS(MINUS, prctl)                     \
  RETURNS(MINUS, pread)                     \
  RETURNS(ERROR, pthread_attr_init)         \
  RETURNS(ERROR, pthread_attr_setstacksize) \
  RETURNS(ERROR, pthread_cond_timedwait)    \
  RETURNS(ERROR, pthread_condattr_setclock) \
  RETURNS(ERROR, pthread_create)            \
  RETURNS(ERROR, pthread_getcpuclockid)     \
  RETURNS(ERROR, pthread_key_create)        \
  RETURNS(ERROR, pthread_setspecific)       \
  RETURNS(MINUS, pwrite)                    \
  RETURNS(MINUS, read)                      \
  RETURNS(MINUS, readlink)                  \
  RETURNS(NOTHING, realpath)                \
  RETURNS(MINUS, rename)                    \
  RETURNS(MINUS, renameat)                  \
  RETURNS(MINUS, rmdir)                     \
  RETURNS(MINUS, sched_getaffinity)         \
  RETURNS(MINUS, setrlimit)                 \
  RETURNS(MINUS, sigaltstack)               \
  RETURNS(MINUS, stat)                      \
  RETURNS(MINUS, syscall)                   \
  RETURNS(MINUS, sysconf)                   \
  RETURNS(MINUS, uname)                     \
  RETURNS(MINUS, unlink)                    \
  RETURNS(MINUS, unlinkat)                  \
  RETURNS(MINUS, waitid)                    \
  RETURNS(MINUS, waitpid)                   \
  RETURNS(MINUS, write)

#define CALLER ((uintptr_t)__builtin_return_address(0))

typedef long words(long, long, long, long, long, long, long);
typedef enum { MINUS, ERROR, NOTHING } failure;

extern void *__libc_malloc(size_t bytes);

static struct {
  char function[32];
  long first, times;
  int error;
} plan;
static uintptr_t begin, end; /* of the recorder's library */

#define RETURNS(how, name) NUMBER_##name,
enum { FUNCTIONS COUNT };
#undef RETURNS
#define RETURNS(how, name) static words *known_##name;
FUNCTIONS
#undef RETURNS

static int64_t none[COUNT], *calls = none;

static words *next(const char *function, words **known) {
  words *found = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (found) return found;
  found = strcmp(function, "malloc") == 0 ? (words *)(uintptr_t)__libc_malloc
                                          : (words *)dlsym(RTLD_NEXT, function);
  __atomic_store_n(known, found, __ATOMIC_RELAXED);
  return found;
}

/* The library is mapped by segments, of which that of the code is one. */
static int find_library(struct dl_phdr_info *library, size_t bytes, void *unused) {
  (void)bytes, (void)unused;
  const char *name = strrchr(library->dlpi_name, '/');
  if (!name || strncmp(name, "/libtsanom-preload", strlen("/libtsanom-preload")) != 0) {
    return 0;
  }
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    begin = library->dlpi_addr + segment->p_vaddr;
    end = begin + segment->p_memsz;
  }
  return 1;
}

/* No descriptor is kept: their numbers are part of what must not change. */
static void map_calls(const char *name) {
  int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) calls = page;
  close(file);
}

/* In a function of the recorder the loader may be busy: all are looked up before. */
static void find_functions(void) {
#define RETURNS(how, name) (void)next(#name, &known_##name);
  FUNCTIONS
#undef RETURNS
}

/* The library that is preloaded last is initialized first. */
__attribute__((constructor)) static void read_plan(void) {
  const char *text = getenv("FAILING");
  find_functions();
  if (!text || sscanf(text, "%31[^:]:%ld:%ld:%d", plan.function, &plan.first, &plan.times,
                      &plan.error) != 4) {
    return;
  }
  map_calls(getenv("FAILING_CALLS"));
  dl_iterate_phdr(find_library, NULL);
}

static bool fails(int number, const char *function, uintptr_t caller) {
  if (caller < begin || caller >= end) return false;
  int64_t call = __atomic_fetch_add(&calls[number], 1, __ATOMIC_RELAXED);
  return strcmp(function, plan.function) == 0 && call >= plan.first &&
         call < plan.first + plan.times;
}

/* Also a call that reports an error closes. */
static bool closes(const char *function, long number) {
  return strcmp(function, "close") == 0 ||
         (strcmp(function, "syscall") == 0 && number == SYS_close);
}

#define RETURNS(how, name)                                                      \
  long failing_##name(long, long, long, long, long, long, long) __asm__(#name); \
  long failing_##name(long a, long b, long c, long d, long e, long f, long g) { \
    words *real = next(#name, &known_##name);                                   \
    if (!fails(NUMBER_##name, #name, CALLER)) return real(a, b, c, d, e, f, g); \
    if (closes(#name, a)) (void)real(a, b, c, d, e, f, g);                      \
    if ((how) == ERROR) return plan.error;                                      \
    errno = plan.error;                                                         \
    return (how) == MINUS ? -1 : 0;                                             \
  }
FUNCTIONS
