/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as far as times per beat depend on it: the processor, and how many of them
 * the program may use. No file is read, since a program may be where there is none. */
#include "record/machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* The brand string: three leaves of 16 bytes, terminated by zero. */
static void name_processor(char *name, size_t size) {
  enum { LEAVES = 3 };
  const unsigned highest = 0x80000000u, first = 0x80000002u;
  unsigned text[4 * LEAVES + 1] = {0};
  if ((unsigned)__get_cpuid_max(highest, NULL) < first + LEAVES - 1) return;
  for (unsigned i = 0; i < LEAVES; i++) {
    unsigned *to = text + 4 * i;
    (void)__get_cpuid(first + i, &to[0], &to[1], &to[2], &to[3]);
  }
  const char *brand = (const char *)text;
  brand += strspn(brand, " ");
  (void)snprintf(name, size, "%.*s", (int)(size - 1), brand);
  for (size_t end = strlen(name); end && name[end - 1] == ' '; end--)
    name[end - 1] = '\0';
}
#else
static void name_processor(char *name, size_t size) {
  struct utsname system;
  if (uname(&system) == 0) (void)snprintf(name, size, "%.32s", system.machine);
}
#endif

void tsn_machine_name(char *name, size_t size) {
  char processor[49] = "unknown";
  cpu_set_t usable;
  int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0;
  name_processor(processor, sizeof processor);
  (void)snprintf(name, size, "%d x %s", count, processor);
}
