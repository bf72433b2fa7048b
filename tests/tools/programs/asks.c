/* SPDX-License-Identifier: BSD-3-Clause */
/* asks [LIBRARY]: prints which functions of MPI there are, as weak references and dlsym() say, in the
 * program, in the module that is linked with it, and in those that it loads before and after
 * MPI_Init. LIBRARY: that of MPI, which it loads itself. -DMODULE: the module. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern int MPI_Barrier(void) __attribute__((weak));
extern int MPI_Bcast_c(void) __attribute__((weak));
extern int MPI_Parrived(void) __attribute__((weak));
extern int MPI_Isendrecv(void) __attribute__((weak));

static void print(const char *who) {
  static int (*const in_table[])(void) = {MPI_Isendrecv, MPI_Barrier};
  printf("%s: barrier %d bcast %d parrived %d sendrecv %d, by table %d %d\n", who,
         MPI_Barrier != NULL, MPI_Bcast_c != NULL, MPI_Parrived != NULL,
         MPI_Isendrecv != NULL, in_table[0] != NULL, in_table[1] != NULL);
}

#ifdef MODULE
void print_module(const char *who);
void print_module(const char *who) {
  print(who);
}
#else
static void *load(const char *path, int flags) {
  void *module = dlopen(path, flags);
  if (!module) abort();
  return module;
}

static void print_module_of(void *module, const char *who) {
  void (*print_it)(const char *) = dlsym(module, "print_module");
  print_it(who);
}

static void initialize(void) {
  int (*init)(int *, char ***) = dlsym(RTLD_DEFAULT, "MPI_Init");
  init(NULL, NULL);
}

int main(int argc, char **argv) {
  if (argc > 1) (void)load(argv[1], RTLD_NOW | RTLD_GLOBAL);
  void *early = load("./early.so", RTLD_NOW), *linked = dlopen(NULL, RTLD_NOW);
  print("program");
  print_module_of(linked, "linked");
  initialize();
  void *late = load("./late.so", RTLD_LAZY);
  print_module_of(early, "early");
  print_module_of(late, "late");
  printf("dlsym %d\n", dlsym(RTLD_DEFAULT, "MPI_Allreduce_c") != NULL);
  int (*finalize)(void) = dlsym(RTLD_DEFAULT, "MPI_Finalize");
  return finalize();
}
#endif
