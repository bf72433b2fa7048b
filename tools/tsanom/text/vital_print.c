/* SPDX-License-Identifier: BSD-3-Clause */
#include "vital_print.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "json_value.h"

enum { WIDTH = 9 };

/* The numbers of a sample: those of the process only are levels, the others are totals.
 */
static const struct {
  const char *name, *title;
  size_t offset;
  double unit;
} numbers[] = {
#define NUMBER(name, title, unit) \
  { #name, title, offsetof(tsanom_hsa_vital, name), unit }
    NUMBER(cpu_s, "cpu s", 1),
    NUMBER(wait_s, "wait s", 1),
    NUMBER(voluntary, "voluntary", 1),
    NUMBER(involuntary, "involunt.", 1),
    NUMBER(minor_faults, "minor f.", 1),
    NUMBER(major_faults, "major f.", 1),
    NUMBER(resident, "res. MiB", 1 << 20),
    NUMBER(anonymous, "anon. MiB", 1 << 20)};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double number_of_sample(const tsanom_hsa_vital *vital, size_t i) {
  return *(const double *)((const char *)vital + numbers[i].offset);
}

int vitals_exist(const tsanom_hsa_run *run) {
  size_t samples = run->vital_count;
  for (size_t t = 0; t < run->thread_count; t++) samples += run->threads[t].vital_count;
  return samples > 0;
}

static void print_row(const tsanom_hsa_vital *vital, size_t count) {
  printf("  %8zu", count);
  for (size_t i = 0; i < NUMBERS; i++) {
    double most = NAN;
    for (size_t k = 0; k < count; k++) {
      most = fmax(most, number_of_sample(&vital[k], i));
    }
    if (isnan(most)) {
      printf(" %*s", WIDTH, "-");
    } else {
      printf(" %*.4g", WIDTH, most / numbers[i].unit);
    }
  }
  printf("\n");
}

void vitals_print(const tsanom_hsa_run *run) {
  printf("\n thread   samples");
  for (size_t i = 0; i < NUMBERS; i++) printf(" %*s", WIDTH, numbers[i].title);
  printf("\nprocess");
  print_row(run->vital, run->vital_count);
  for (size_t t = 0; t < run->thread_count; t++) {
    printf("%7zu", t);
    print_row(run->threads[t].vital, run->threads[t].vital_count);
  }
}

json_t *vitals_json(const tsanom_hsa_vital *vital, size_t count) {
  json_t *object = json_object(), *time = json_array();
  for (size_t k = 0; k < count; k++) {
    json_array_append_new(time, json_finite(vital[k].time));
  }
  json_object_set_new(object, "time", time);
  for (size_t i = 0; i < NUMBERS; i++) {
    json_t *array = json_array();
    for (size_t k = 0; k < count; k++) {
      json_array_append_new(array, json_finite(number_of_sample(&vital[k], i)));
    }
    json_object_set_new(object, numbers[i].name, array);
  }
  return object;
}
