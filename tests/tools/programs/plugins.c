/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a region; loads each library that is named, calls its work(), and unloads it. A
 * word NEW=OLD first renames a file, as the installation of a library does. The exit
 * status is 0 if work() was at the same address each time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uintptr_t call(const char *library) {
  void *handle = dlopen(library, RTLD_NOW), *found = handle ? dlsym(handle, "work") : 0;
  void (*work)(int);
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  memcpy(&work, &found, sizeof work);
  work(10);
  return dlclose(handle) == 0 ? (uintptr_t)found : 0;
}

int main(int argc, char **argv) {
  uintptr_t first = 0;
  static int members;
  for (int i = 1; i < argc; i++) {
#pragma omp parallel num_threads(2)
#pragma omp atomic
    members++;
    char *old = strchr(argv[i], '=');
    if (old) {
      *old++ = '\0';
      if (rename(argv[i], old) != 0) return 2;
    }
    uintptr_t at = call(old ? old : argv[i]);
    if (!at) return 2;
    if (!first) first = at;
    if (at != first) return 1;
  }
  return 0;
}
