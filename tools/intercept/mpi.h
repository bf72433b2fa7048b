/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of MPI's functions (mpi_wrappers.c) call: a call begins and ends. */
#ifndef TSN_INTERCEPT_MPI_H
#define TSN_INTERCEPT_MPI_H

#include <stdatomic.h>
#include <stdint.h>

/* An argument: a number or a pointer, which travels in a register or a stack slot of its
 * own. MPI passes nothing else by value. */
typedef intptr_t word;

/* The original of a wrapper, for a call from `site`; ends the program if there is none.
 */
void *icp_mpi_original(_Atomic(void *) *cache, const char *name, const void *site);

/* Where a call is on the stack: `top` is the stack pointer of its caller, below at most
 * `slack` bytes of arguments that the caller may have put there. */
typedef struct {
  const char *top;
  int64_t slack;
} icp_mpi_frame;

/* That of a wrapper with `words` arguments. */
#define ICP_MPI_FRAME(words) \
  ((icp_mpi_frame){__builtin_dwarf_cfa(), 8 * ((words) > 6 ? (words)-6 + 1 : 1)})

/* A call from `site` begins. Returns the number of its place, or of ICP_MPI_UNRECORDED
 * for one that is not recorded: within another one, for example. Each is followed by
 * icp_mpi_end(). */
enum { ICP_MPI_UNRECORDED = UINT16_MAX };
uint32_t icp_mpi_begin(const char *name, const void *site, word communicator,
                       icp_mpi_frame frame);
void icp_mpi_end(uint32_t place);

/* The same of a call that asks and does not wait. Polls between which the program does nothing
 * are one visit of a place. */
uint32_t icp_mpi_begin_poll(const char *name, const void *site, word communicator,
                            icp_mpi_frame frame);
void icp_mpi_end_poll(uint32_t place);

/* Before and after MPI_Init is called from `site`, as `name`: find the rank, and start
 * the run. The second gets what the first returned. */
uint32_t icp_mpi_starting(const char *name, const void *site, icp_mpi_frame frame);
void icp_mpi_started(uint32_t place, const char *name, const void *site,
                     icp_mpi_frame frame);

/* Call it after code may have been unloaded: its addresses may be reused. */
void icp_mpi_forget(void);

/* What MPI says of this process, before icp_start() or after it. */
void icp_rank_is(int rank, int size);

/* The program starts processes by MPI, which have ranks of their own. */
void icp_report_spawn(void);

#endif
