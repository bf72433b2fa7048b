/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs what libraries have (library.c), and prints how often their iterations were
 * executed.
 *   libraries now|lazy early|late MODE LIBRARY NAME MODE LIBRARY NAME
 * MODE: linked (nothing is loaded), local, global or deep, as dlopen() has them. `early`:
 * the libraries are loaded before the first one is run. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 100, LIBRARIES = 2 };
typedef void orphan(int *hits);
typedef int run(int kind, int *hits, orphan *other);

static int binding;
static struct {
  run *run;
  orphan *orphan;
} library[LIBRARIES];

static void *find(void *handle, const char *name, const char *what) {
  char symbol[64];
  snprintf(symbol, sizeof symbol, "%s_%s", name, what);
  void *found = dlsym(handle, symbol);
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return found;
}

static void load(int l, char **word) {
  void *handle = RTLD_DEFAULT;
  if (strcmp(word[0], "linked") != 0) {
    int mode = word[0][0] == 'g'   ? RTLD_GLOBAL
               : word[0][0] == 'd' ? RTLD_LOCAL | RTLD_DEEPBIND
                                   : RTLD_LOCAL;
    handle = dlopen(word[1], binding | mode);
    if (!handle) fprintf(stderr, "%s\n", dlerror()), exit(2);
  }
  void *found = find(handle, word[2], "run");
  memcpy(&library[l].run, &found, sizeof found);
  found = find(handle, word[2], "orphan");
  memcpy(&library[l].orphan, &found, sizeof found);
}

static void no_orphan(int *hits) {
  __atomic_fetch_add(hits, 1, __ATOMIC_RELAXED);
}

static void run_all(int l, const char *name) {
  orphan *other = library[!l].orphan ? library[!l].orphan : no_orphan;
  for (int kind = 0, team = 1; team; kind++) {
    int hits[SIZE] = {0};
    team = library[l].run(kind, hits, other);
    printf("%s %d: %d:", name, kind, team);
    for (int i = 0; i < SIZE; i++) printf(" %d", hits[i]);
    printf("\n");
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc != 9) return 3;
  alarm(20);
  binding = argv[1][0] == 'n' ? RTLD_NOW : RTLD_LAZY;
  int is_late = strcmp(argv[2], "late") == 0;
  for (int l = 0; l < LIBRARIES; l++) {
    load(l, argv + 3 + 3 * l);
    if (is_late) run_all(l, argv[5 + 3 * l]);
  }
  for (int l = 0; l < LIBRARIES; l++) run_all(l, argv[5 + 3 * l]);
  return 0;
}
