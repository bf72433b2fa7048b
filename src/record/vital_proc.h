/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says about a process and a thread. The recorder writes it, and a watch reads it of
 * a thread whose recorder takes no samples: this file is part of both libraries. */
#ifndef TSN_RECORD_VITAL_PROC_H
#define TSN_RECORD_VITAL_PROC_H

#include <stdbool.h>

#include "record/format.h"

enum { TSN_PROC_FILES = 4 }; /* read for one sample */

/* Open files of a process or thread in /proc; -1: not open. */
typedef struct {
  int32_t task;
  int file[TSN_PROC_FILES];
} tsn_proc_files;

/* The directory in /proc of a process, 0: of this one; -1: there is none. */
int tsn_proc_open(uint64_t process);
/* -1: nothing happens. */
void tsn_proc_close(int file);
/* The exit status of a process that ends, or minus the signal that kills it; 0: it has
 * not ended, or is not known. */
int32_t tsn_proc_read_exit(int directory, tsn_proc_files *kept, int handle);
/* Seconds since a process began, 0: this one, to 1/100 s; NaN: it has ended. */
double tsn_proc_age(uint64_t process);
/* Bytes of address space that a limit leaves to this process; UINT64_MAX: there is none. */
uint64_t tsn_proc_address_space(void);
/* A record whose values are unavailable. */
tsn_vital_record tsn_proc_record(uint32_t stream, int32_t thread, int32_t task);
/* Fill one with what can be read. No `kept`: open and close the files. The kernel adds up
 * the sums over all threads; the peak is that of memory. */
void tsn_proc_read_process(int directory, tsn_proc_files *kept, bool sums, bool peak,
                           tsn_vital_record *record);
void tsn_proc_read_thread(int directory, tsn_proc_files *kept, bool switches,
                          tsn_vital_record *record);

#endif
