/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_TASK_SAMPLE_H
#define TSANOM_COMMAND_TASK_SAMPLE_H

#include <tsanom/vital.h>

/* Set the processor time, the waiting time and the state of a thread of this machine to
 * what the kernel knows now; the other numbers of the sample to not known. 0: there is no
 * such thread, or the kernel does not count. */
int task_sample(int64_t process, int32_t task, tsanom_hsa_vital *sample);

#endif
