/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI, for the recorder around them. */
#ifndef TSN_INTERCEPT_MPI_H
#define TSN_INTERCEPT_MPI_H

/* Call it after code may have been unloaded: its addresses may be reused. */
void icp_mpi_forget(void);

/* What MPI says of this process, before icp_start() or after it. */
void icp_rank_is(int rank, int size);

/* The program starts processes by MPI, which have ranks of their own. */
void icp_report_spawn(void);

#endif
