/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's functions, in front of the originals, by one table (mpi_calls.h). They forward
 * machine words, so that no mpi.h is needed and one library serves every MPI:
 *
 *   C         MPI_Send(...)            communicators by value
 *   Fortran   mpi_send_, mpi_send__    mpif.h and `use mpi`; all arguments by reference
 *             mpi_send_f08_            `use mpi_f08` without descriptors, as Open MPI
 *             mpi_send_f08ts_          with descriptors, as MPICH
 *
 * A Fortran function may call the one for C, which then is within a call and not
 * recorded: each call of the program counts once. The functions with the prefix PMPI_ are
 * left to the program. */
#include "mpi.h"
#include "runtime.h"

#define P0 void
#define P1 word a
#define P2 P1, word b
#define P3 P2, word c
#define P4 P3, word d
#define P5 P4, word e
#define P6 P5, word f
#define P7 P6, word g
#define P8 P7, word h
#define P9 P8, word i
#define P10 P9, word j
#define P11 P10, word k
#define P12 P11, word l
#define P13 P12, word m
#define P14 P13, word n
#define A0
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l
#define A13 A12, m
#define A14 A13, n

/* Argument `at` of those, as C and as Fortran pass a communicator. */
#define C0 0
#define C1 a
#define C2 b
#define C3 c
#define C4 d
#define C5 e
#define C6 f
#define C7 g
#define C8 h
#define C9 i
#define C11 k
#define VALUE(at) C##at
#define REFERENCE(at) read_handle(C##at)

/* Handles of Fortran are integers of 32 bits, in mpi_f08 the only member of a struct. 0
 * is one of them, and becomes another number. */
static inline word read_handle(word address) {
  int32_t handle = 0;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): the argument is a pointer */
  if (address) memcpy(&handle, (const void *)address, sizeof handle);
  return (word)((uint32_t)handle | (uint64_t)1 << 32);
}

/* Declare `real`, the original. */
#define MPI_REAL(symbol, words)                                                \
  static _Atomic(void *) cache;                                                \
  const void *site = __builtin_return_address(0);                              \
  void *original_address = atomic_load_explicit(&cache, memory_order_acquire); \
  if (__builtin_expect(!original_address, 0)) {                                \
    original_address = icp_mpi_original(&cache, #symbol, site);                \
  }                                                                            \
  word (*real)(P##words);                                                      \
  memcpy(&real, &original_address, sizeof real)

#define WRAP(symbol, name, words, communicator, begins, ends)                 \
  ENTRY word symbol(P##words);                                                \
  ENTRY word symbol(P##words) {                                               \
    MPI_REAL(symbol, words);                                                  \
    uint32_t place = begins(#name, site, communicator, ICP_MPI_FRAME(words)); \
    word result = real(A##words);                                             \
    ends(place);                                                              \
    return result;                                                            \
  }

#define EACH(name, fortran, words, fortran_words, at, begins, ends)      \
  WRAP(name, name, words, VALUE(at), begins, ends)                       \
  WRAP(fortran##_, name, fortran_words, REFERENCE(at), begins, ends)     \
  WRAP(fortran##__, name, fortran_words, REFERENCE(at), begins, ends)    \
  WRAP(fortran##_f08_, name, fortran_words, REFERENCE(at), begins, ends) \
  WRAP(fortran##_f08ts_, name, fortran_words, REFERENCE(at), begins, ends)

#define CALL(name, fortran, words, fortran_words, at) \
  EACH(name, fortran, words, fortran_words, at, icp_mpi_begin, icp_mpi_end)
#define POLL(name, fortran, words, fortran_words, at) \
  EACH(name, fortran, words, fortran_words, at, icp_mpi_begin_poll, icp_mpi_end_poll)
#define LARGE(name, fortran, words, fortran_words, at) \
  CALL(name, fortran, words, fortran_words, at)        \
  WRAP(name##_c, name##_c, words, VALUE(at), icp_mpi_begin, icp_mpi_end)
#include "mpi_calls.h"

/* The rank is known behind these, so that the run starts there. Before, a call is not
 * recorded that one of them makes. */
#define INITIALIZE(symbol, name, words)                    \
  ENTRY word symbol(P##words);                             \
  ENTRY word symbol(P##words) {                            \
    MPI_REAL(symbol, words);                               \
    icp_mpi_frame frame = ICP_MPI_FRAME(words);            \
    uint32_t place = icp_mpi_starting(#name, site, frame); \
    word result = real(A##words);                          \
    icp_mpi_started(place, #name, site, frame);            \
    return result;                                         \
  }

INITIALIZE(MPI_Init, MPI_Init, 2)
INITIALIZE(mpi_init_, MPI_Init, 1)
INITIALIZE(mpi_init__, MPI_Init, 1)
INITIALIZE(mpi_init_f08_, MPI_Init, 1)
INITIALIZE(mpi_init_f08ts_, MPI_Init, 1)
INITIALIZE(MPI_Init_thread, MPI_Init_thread, 4)
INITIALIZE(mpi_init_thread_, MPI_Init_thread, 3)
INITIALIZE(mpi_init_thread__, MPI_Init_thread, 3)
INITIALIZE(mpi_init_thread_f08_, MPI_Init_thread, 3)
INITIALIZE(mpi_init_thread_f08ts_, MPI_Init_thread, 3)
