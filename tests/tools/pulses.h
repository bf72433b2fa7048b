/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of programs/pulse.c. */
#ifndef TSANOM_TEST_PULSES_H
#define TSANOM_TEST_PULSES_H

#include "run.h"

/* Start the program; the file `pid` gets its number. */
void start_pulse(const char *run, int beats, const char *how);

/* End a program that would go on. */
void end_pulse(void);

/* Run the program to its end. */
void record_pulse(const char *run, int beats, const char *how);

#endif
