/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model detects, in words. */
#ifndef TSANOM_COMMAND_POWER_H
#define TSANOM_COMMAND_POWER_H

#include <tsanom/diagnosis.h>

/* The smallest effect of each cause that is reported, as a line. */
void power_print(const tsanom_diagnosis_normal *normal);

/* Warn of causes that are found too late to be of use, or not at all. */
void power_warn(const tsanom_diagnosis_normal *normal);

#endif
