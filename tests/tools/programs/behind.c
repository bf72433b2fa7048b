/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that comes to MPI through a library (LIBRARY), of which each function jumps to MPI:
 * its caller is the program, which has not loaded MPI itself. */
#ifdef LIBRARY
#include <mpi.h>

int begin(int *count, char ***words) {
  return MPI_Init(count, words);
}

int meet(void) {
  return MPI_Barrier(MPI_COMM_WORLD);
}

int end(void) {
  return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv) {
  void *library = dlopen("./libbehind.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 2;
  int (*begin)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "begin");
  int (*meet)(void) = (int (*)(void))dlsym(library, "meet");
  int (*end)(void) = (int (*)(void))dlsym(library, "end");
  begin(&argc, &argv);
  for (int i = 0; i < 20; i++) meet();
  end();
}
#endif
