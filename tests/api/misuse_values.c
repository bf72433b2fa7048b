/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid numbers, arrays and texts for misuse.py, by type, by type and name, or by
 * function and name; misuse_structs.c has the others. The sizes belong together: series
 * of 12 samples in sets of 12, tables of 12 rows and 6 attributes. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/diagnosis.h>
#include <tsanom/record.h>
#include <tsanom/runs.h>
#include <tsanom/tsanom.h>

#include "misuse.h"

enum {
  SIZE = 12,
  ATTRIBUTES = 6,
  REGIONS = 4,
  ELEMENTS = 512,
  OBJECT_BYTES = 1 << 20,
  REPORT_BYTES = 1 << 14
};

#define NUMBER_VALUE(name, member, number) \
  static value name(void) {                \
    return (value){.member = number};      \
  }

/* ---- numbers */

NUMBER_VALUE(make_size_t, size, SIZE)
NUMBER_VALUE(make_size_t_attributes, size, ATTRIBUTES)
NUMBER_VALUE(make_size_t_bytes, size, OBJECT_BYTES)
NUMBER_VALUE(make_size_t_index, size, 0)
NUMBER_VALUE(make_size_t_radius, size, 3)
NUMBER_VALUE(make_size_t_stream_length, size, 4 * SIZE)
NUMBER_VALUE(make_tsanom_optics_order_matrix_ld, size, 0)
NUMBER_VALUE(make_tsanom_hsa_diagnose_verdict_count, size, 1)
NUMBER_VALUE(make_tsanom_diagnosis_find_causes_capacity, size, 12)
NUMBER_VALUE(make_tsanom_diagnosis_account_capacity, size, TSANOM_DIAGNOSIS_WINDOWS)
NUMBER_VALUE(make_tsanom_diagnosis_judge_job_count, size, 1)
NUMBER_VALUE(make_tsanom_diagnosis_summarize_count, size, 1)
NUMBER_VALUE(make_tsanom_diagnosis_cause_status_count, size, 1)
NUMBER_VALUE(make_tsanom_runs_rate_window, size, 3)
NUMBER_VALUE(make_tsanom_runs_open_processes_count, size, 1)
NUMBER_VALUE(make_uint64_t, uint64, 5)
NUMBER_VALUE(make_uint32_t, uint32, 0)
NUMBER_VALUE(make_int32_t, int32, 0)
NUMBER_VALUE(make_int32_t_threads, int32, 1)
NUMBER_VALUE(make_int32_t_part, int32, TSANOM_RUNS_BEATS)
NUMBER_VALUE(make_int32_t_iterations, int32, 3)
NUMBER_VALUE(make_double, real, 0.5)
NUMBER_VALUE(make_tsanom_status, int32, TSANOM_OK)

/* ---- arrays */

#define ARRAY_VALUE(name, type, element)                          \
  static value name(void) {                                       \
    type *made = take(ELEMENTS * sizeof *made);                   \
    for (int i = 0; i < ELEMENTS; i++) made[i] = (type)(element); \
    return (value){.pointer = made};                              \
  }

ARRAY_VALUE(make_const_double, double, 1 + 0.5 * i)
ARRAY_VALUE(make_const_float, float, 1 + 0.5 * i)
ARRAY_VALUE(make_const_int32_t, int32_t, i % 3)
ARRAY_VALUE(make_const_uint64_t, uint64_t, 1 + i % 63)
ARRAY_VALUE(make_const_uint32_t, uint32_t, i % 3)

static value make_void(void) {
  return (value){.pointer = take(OBJECT_BYTES)};
}

#define POINTER_OUTPUT(name)            \
  static value name(void) {             \
    return (value){.pointer = take(8)}; \
  }

POINTER_OUTPUT(make_const_tsanom_hsa_run_pointer)
POINTER_OUTPUT(make_const_tsanom_hsa_vital_pointer)
POINTER_OUTPUT(make_const_tsanom_diagnosis_anomaly_pointer)
POINTER_OUTPUT(make_const_char_pointer)

/* ---- saved states */

static void *take_block(void *user, size_t bytes) {
  (void)user;
  return take(bytes);
}

static void leave_block(void *user, void *block) {
  (void)user;
  (void)block;
}

static value make_tsanom_restore_object(void) {
  tsanom_exec exec;
  tsanom_dpd_event *made = NULL;
  tsanom_exec_init(&exec, sizeof exec);
  exec.alloc = take_block;
  exec.dealloc = leave_block;
  (void)tsanom_dpd_event_create(NULL, &exec, &made);
  return (value){.pointer = made};
}

static value make_tsanom_save_object(void) {
  return make_tsanom_restore_object();
}

static value make_tsanom_restore_state_bytes(void) {
  size_t bytes = 0;
  (void)tsanom_save(make_tsanom_restore_object().pointer, NULL, 0, &bytes);
  return (value){.size = bytes};
}

static value make_tsanom_restore_state(void) {
  size_t bytes = make_tsanom_restore_state_bytes().size;
  void *state = take(bytes);
  (void)tsanom_save(make_tsanom_restore_object().pointer, state, bytes, &bytes);
  return (value){.pointer = state};
}

/* ---- texts */

static value text_value(const char *text) {
  char *made = take(strlen(text) + 1);
  memcpy(made, text, strlen(text) + 1);
  return (value){.pointer = made};
}

/* A path where nothing is. */
static value make_const_char(void) {
  char path[MISUSE_PATH];
  misuse_new_path(path);
  return text_value(path);
}

static value make_tsanom_runs_open_path(void) {
  return text_value(misuse_run);
}

/* One path. */
static value make_tsanom_runs_open_processes_paths(void) {
  const char **made = take(sizeof *made);
  *made = misuse_run;
  return (value){.pointer = made};
}

static value make_tsanom_runs_model_load_path(void) {
  return text_value(misuse_model_file);
}

static char *model_text(void) {
  static char text[1 << 16];
  FILE *file = fopen(misuse_model_file, "re");
  size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[length] = '\0';
  if (file) (void)fclose(file);
  return text;
}

static value make_tsanom_runs_model_parse_text(void) {
  return text_value(model_text());
}

static value make_tsanom_runs_model_parse_bytes(void) {
  return (value){.size = strlen(model_text())};
}

/* ---- the process */

static void after_tsanom_heartbeat_init(void) {
  (void)tsanom_heartbeat_finish();
}

static void before_tsanom_heartbeat_beat(void) {
  (void)tsanom_heartbeat_init(make_const_char().pointer, 1, NULL, NULL);
}

static void after_tsanom_heartbeat_beat(void) {
  (void)tsanom_heartbeat_finish();
}
