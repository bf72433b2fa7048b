/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid arguments for misuse.py, by type, by type and name, or by function and name. The
 * sizes belong together: series of 12 samples in sets of 12, tables of 12 rows and 6
 * attributes. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/record.h>
#include <tsanom/runs.h>
#include <tsanom/tsanom.h>
#include <tsanom/vital.h>

#include "misuse.h"

enum {
  SIZE = 12,
  ATTRIBUTES = 6,
  REGIONS = 4,
  ELEMENTS = 512,
  OBJECT_BYTES = 1 << 20,
  REPORT_BYTES = 1 << 14
};

#define SIZE_VALUE(name, number)    \
  static value name(void) {         \
    return (value){.size = number}; \
  }

/* ---- numbers */

SIZE_VALUE(make_size_t, SIZE)
SIZE_VALUE(make_size_t_attributes, ATTRIBUTES)
SIZE_VALUE(make_size_t_bytes, OBJECT_BYTES)
SIZE_VALUE(make_size_t_index, 0)
SIZE_VALUE(make_size_t_event, 0)
SIZE_VALUE(make_size_t_radius, 3)
SIZE_VALUE(make_size_t_stream_length, 4 * SIZE)
SIZE_VALUE(make_tsanom_runs_damage_at_stream, TSANOM_NONE)
SIZE_VALUE(make_tsanom_optics_order_matrix_ld, 0)
SIZE_VALUE(make_tsanom_hsa_diagnose_verdict_count, 1)
SIZE_VALUE(make_tsanom_hsa_find_causes_capacity, 8)
SIZE_VALUE(make_tsanom_hsa_cause_status_count, 1)
SIZE_VALUE(make_tsanom_runs_rate_window, 3)
SIZE_VALUE(make_tsanom_runs_open_processes_count, 1)

static value make_uint64_t(void) {
  return (value){.uint64 = 5};
}

static value make_uint32_t(void) {
  return (value){.uint32 = TSANOM_REGIONS_BEGIN};
}

static value make_int32_t(void) {
  return (value){.int32 = 0};
}

static value make_int32_t_threads(void) {
  return (value){.int32 = 1};
}

static value make_int32_t_part(void) {
  return (value){.int32 = TSANOM_RUNS_BEATS};
}

static value make_int32_t_iterations(void) {
  return (value){.int32 = 3};
}

static value make_double(void) {
  return (value){.real = 0.5};
}

static value make_tsanom_status(void) {
  return (value){.int32 = TSANOM_OK};
}

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

static value make_const_void(void) {
  return (value){.pointer = take(OBJECT_BYTES)};
}

static value make_void(void) {
  return (value){.pointer = take(OBJECT_BYTES)};
}

#define POINTER_OUTPUT(name)            \
  static value name(void) {             \
    return (value){.pointer = take(8)}; \
  }

POINTER_OUTPUT(make_const_tsanom_hsa_run_pointer)
POINTER_OUTPUT(make_const_tsanom_speedup_event_pointer)
POINTER_OUTPUT(make_const_tsanom_hsa_vital_pointer)
POINTER_OUTPUT(make_const_tsanom_hsa_anomaly_pointer)
POINTER_OUTPUT(make_const_char_pointer)

/* ---- saved states */

/* Its bytes. */
#define STATE_SIZE(name, type)                \
  static value name(void) {                   \
    type *made = NULL;                        \
    size_t bytes = 0;                         \
    (void)type##_create(NULL, NULL, &made);   \
    (void)type##_save(made, NULL, 0, &bytes); \
    type##_destroy(made);                     \
    return (value){.size = bytes};            \
  }

#define STATE_VALUE(name, type)                    \
  static value name(void) {                        \
    type *made = NULL;                             \
    size_t bytes = 0;                              \
    (void)type##_create(NULL, NULL, &made);        \
    (void)type##_save(made, NULL, 0, &bytes);      \
    void *state = take(bytes);                     \
    (void)type##_save(made, state, bytes, &bytes); \
    type##_destroy(made);                          \
    return (value){.pointer = state};              \
  }

STATE_SIZE(make_tsanom_dpd_event_restore_state_bytes, tsanom_dpd_event)
STATE_VALUE(make_tsanom_dpd_event_restore_state, tsanom_dpd_event)
STATE_SIZE(make_tsanom_dpd_nest_restore_state_bytes, tsanom_dpd_nest)
STATE_VALUE(make_tsanom_dpd_nest_restore_state, tsanom_dpd_nest)
STATE_SIZE(make_tsanom_dpd_value_restore_state_bytes, tsanom_dpd_value)
STATE_VALUE(make_tsanom_dpd_value_restore_state, tsanom_dpd_value)
STATE_SIZE(make_tsanom_speedup_restore_state_bytes, tsanom_speedup)
STATE_VALUE(make_tsanom_speedup_restore_state, tsanom_speedup)

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

static value make_tsanom_spmd_event_named_name(void) {
  return text_value("page-faults");
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

/* ---- sets, tables and measurements */

#define SET_VALUE(name, suffix, real)                        \
  static value name(void) {                                  \
    tsanom_series##suffix *made = take_struct(sizeof *made); \
    (void)tsanom_series_init##suffix(made, sizeof *made);    \
    made->data = make_const_##real().pointer;                \
    made->count = made->length = SIZE;                       \
    return (value){.pointer = made};                         \
  }

SET_VALUE(make_const_tsanom_series, , double)
SET_VALUE(make_const_tsanom_series_f32, _f32, float)

static value make_const_tsanom_roughset_table(void) {
  tsanom_roughset_table *made = take_struct(sizeof *made);
  (void)tsanom_roughset_table_init(made, sizeof *made);
  made->rows = SIZE;
  made->attributes = ATTRIBUTES;
  made->values = made->decision = make_const_int32_t().pointer;
  return (value){.pointer = made};
}

static value make_const_tsanom_roughset_visitor(void) {
  tsanom_roughset_visitor *made = take(sizeof *made);
  *made = (tsanom_roughset_visitor){0};
  return (value){.pointer = made};
}

static value make_tsanom_optics_ordering(void) {
  tsanom_optics_ordering *made = take_struct(sizeof *made);
  (void)tsanom_optics_ordering_init(made, sizeof *made);
  made->order = take(SIZE * sizeof(size_t));
  made->predecessor = take(SIZE * sizeof(size_t));
  made->reachability = take(SIZE * sizeof(double));
  made->core_distance = take(SIZE * sizeof(double));
  return (value){.pointer = made};
}

/* Two clusters, ordered. */
static value make_const_tsanom_optics_ordering(void) {
  tsanom_optics_ordering *made = make_tsanom_optics_ordering().pointer;
  made->n = SIZE;
  for (size_t i = 0; i < SIZE; i++) {
    made->order[i] = i;
    made->predecessor[i] = i ? i - 1 : TSANOM_NONE;
    made->reachability[i] = i == 0 ? INFINITY : i == SIZE / 2 ? 50 : 1;
    made->core_distance[i] = 1;
  }
  return (value){.pointer = made};
}

static double point_distance(void *user, size_t i, size_t j) {
  (void)user;
  return (double)(i + j);
}

static value make_tsanom_optics_distance(void) {
  return (value){.pointer = (void *)(uintptr_t)point_distance};
}

static value make_const_tsanom_spmd_data(void) {
  tsanom_spmd_data *made = take_struct(sizeof *made);
  int32_t *parent = take(SIZE * sizeof *parent);
  for (int i = 0; i < SIZE; i++) parent[i] = TSANOM_SPMD_NONE;
  (void)tsanom_spmd_data_init(made, sizeof *made);
  made->processes = SIZE;
  made->regions = REGIONS;
  made->metrics = 2;
  made->parent = parent;
  made->time = make_const_double().pointer;
  made->metric = make_const_double().pointer;
  return (value){.pointer = made};
}

static value make_tsanom_spmd_report(void) {
  tsanom_spmd_report *made = take_struct(sizeof *made);
  (void)tsanom_spmd_report_init(made, sizeof *made);
  made->decision_capacity = made->member_capacity = made->reduct_capacity = SIZE;
  made->class_of = take(REPORT_BYTES);
  made->region = take(REPORT_BYTES);
  made->decision = take(REPORT_BYTES);
  made->member = take(REPORT_BYTES);
  made->code = take(REPORT_BYTES);
  made->core = take(REPORT_BYTES);
  made->reduct = take(REPORT_BYTES);
  made->order = take(REPORT_BYTES);
  made->reachability = take(REPORT_BYTES);
  return (value){.pointer = made};
}

static value make_const_tsanom_spmd_event(void) {
  tsanom_spmd_event *made = take(SIZE * sizeof *made);
  for (int i = 0; i < SIZE; i++) (void)tsanom_spmd_event_named("page-faults", &made[i]);
  return (value){.pointer = made};
}

static value make_const_tsanom_spmd_row(void) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                      "g", "h", "i", "j", "k", "l"};
  tsanom_spmd_row *made = take_struct(sizeof *made);
  (void)tsanom_spmd_row_init(made, sizeof *made);
  made->process = "0";
  made->region = names;
  return (value){.pointer = made};
}

static value make_tsanom_spmd_end_recorder(void) {
  tsanom_spmd_recorder *made = NULL;
  (void)tsanom_spmd_recorder_init(take(OBJECT_BYTES), OBJECT_BYTES, SIZE, SIZE, NULL,
                                  NULL, &made);
  (void)tsanom_spmd_begin(made, 0);
  return (value){.pointer = made};
}

static value make_const_tsanom_dpd_iteration(void) {
  tsanom_dpd_iteration *made = take(SIZE * sizeof *made);
  for (size_t i = 0; i < SIZE; i++) made[i] = (tsanom_dpd_iteration){i, i + 1};
  return (value){.pointer = made};
}

static value make_const_tsanom_dpd_main_options(void) {
  tsanom_dpd_main_options *made = take_struct(sizeof *made);
  tsanom_dpd_main_options_init(made, sizeof *made);
  made->kinds = 3;
  return (value){.pointer = made};
}

static value make_const_tsanom_record_options(void) {
  tsanom_record_options *made = take_struct(sizeof *made);
  (void)tsanom_record_options_init(made, sizeof *made);
  made->channels = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS;
  made->helper = TSANOM_HEARTBEAT_HELPER_NONE;
  return (value){.pointer = made};
}

/* Regions 0, 1, 2, 0, 1, 2 ... one after another. */
static value make_const_tsanom_speedup_event(void) {
  tsanom_speedup_event *made = take((size_t)4 * SIZE * sizeof *made);
  for (int i = 0; i < 4 * SIZE; i++) {
    made[i] = (tsanom_speedup_event){
        .region = (uint64_t)(i % 3), .begin = i, .end = i + 0.5, .threads = 2};
  }
  return (value){.pointer = made};
}

static void prepare_tsanom_speedup(void *made) {
  const tsanom_speedup_event *events = make_const_tsanom_speedup_event().pointer;
  for (int i = 0; i < 4 * SIZE; i++) (void)tsanom_speedup_push(made, &events[i]);
}

static value make_tsanom_speedup_push_event(void) {
  tsanom_speedup_event *made = make_const_tsanom_speedup_event().pointer;
  made->begin = made->end = 100;
  return (value){.pointer = made};
}

static value make_const_tsanom_speedup_loop(void) {
  tsanom_speedup_loop *made = take(sizeof *made);
  *made = (tsanom_speedup_loop){.period = 3,
                                .iterations = 5,
                                .current_s = 1,
                                .current_threads = 2,
                                .baseline_threads = 2};
  return (value){.pointer = made};
}

static value make_tsanom_speedup_loop_loop(void) {
  return make_const_tsanom_speedup_loop();
}

/* ---- fits and heartbeats */

static value make_const_tsanom_polyfit_model(void) {
  tsanom_polyfit_model *made = take_struct(sizeof *made);
  double x[] = {1, 2, 3, 4}, y[] = {1, 2, 4, 8};
  (void)tsanom_polyfit_model_init(made, sizeof *made);
  (void)tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, made);
  return (value){.pointer = made};
}

static void prepare_tsanom_hsa_watch(void *made) {
  const tsanom_hsa_anomaly *found;
  size_t count;
  (void)tsanom_hsa_watch_update(made, misuse_runs, NULL, &found, &count);
}

static value make_tsanom_hsa_watch_pulse_thread(void) {
  return (value){.size = 0};
}

static void prepare_tsanom_polyfit_stream(void *made) {
  const double *x = make_const_double().pointer;
  (void)tsanom_polyfit_stream_push(made, x, x, NULL, SIZE, NULL);
}

static value make_const_tsanom_hsa_run(void) {
  tsanom_hsa_run *made = take(SIZE * sizeof *made);
  memcpy(made, misuse_runs, sizeof misuse_runs);
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_series(void) {
  tsanom_hsa_series *made = take(sizeof *made);
  *made = (tsanom_hsa_series){.time = make_const_double().pointer, .beats = ELEMENTS};
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_features(void) {
  tsanom_hsa_features *made = take(sizeof *made);
  memset(made, 0, sizeof *made);
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_range(void) {
  tsanom_hsa_range *made = take(TSANOM_HSA_SLOTS * sizeof *made);
  for (int i = 0; i < TSANOM_HSA_SLOTS; i++) made[i] = (tsanom_hsa_range){0.5, 2};
  return (value){.pointer = made};
}

static value make_tsanom_hsa_verdict_verdicts(void) {
  tsanom_hsa_verdict *made = take(SIZE * sizeof *made);
  for (int i = 0; i < SIZE; i++) (void)tsanom_hsa_verdict_init(&made[i], sizeof *made);
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_verdict_verdicts(void) {
  return make_tsanom_hsa_verdict_verdicts();
}

static value make_const_tsanom_hsa_step(void) {
  tsanom_hsa_step *made = take(sizeof *made);
  memset(made, 0, sizeof *made);
  return (value){.pointer = made};
}

/* Of one thread; the ranges exclude nothing but negative signs. */
static value make_tsanom_hsa_normal(void) {
  enum { RANGES = TSANOM_HSA_PARTS * TSANOM_HSA_SIGNS };
  tsanom_hsa_normal *made = take_struct(sizeof *made);
  (void)tsanom_hsa_normal_init(made, sizeof *made);
  made->thread_count = made->run_count = 1;
  made->range = take(RANGES * sizeof *made->range);
  made->range_count = RANGES;
  for (int i = 0; i < RANGES; i++) made->range[i] = (tsanom_hsa_range){0, 100};
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_normal(void) {
  return make_tsanom_hsa_normal();
}

static value make_const_tsanom_hsa_cause(void) {
  tsanom_hsa_cause *made = take(sizeof *made);
  *made = (tsanom_hsa_cause){.cause = TSANOM_HSA_HANG};
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_model_data(void) {
  tsanom_hsa_model_data *made = take_struct(sizeof *made);
  (void)tsanom_hsa_model_data_init(made, sizeof *made);
  (void)tsanom_hsa_model_read(misuse_model, made);
  return (value){.pointer = made};
}

static value make_const_tsanom_runs_model_data(void) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                      "g", "h", "i", "j", "k", "l"};
  tsanom_runs_model_data *made = take(sizeof *made);
  *made = (tsanom_runs_model_data){.model = make_const_tsanom_hsa_model_data().pointer,
                                   .run = names};
  return (value){.pointer = made};
}

/* ---- the process */

static void after_tsanom_heartbeat_init(void) {
  (void)tsanom_heartbeat_finish();
}

static void before_tsanom_heartbeat_beat(void) {
  (void)tsanom_heartbeat_init(make_const_char().pointer, 1, NULL);
}

static void after_tsanom_heartbeat_beat(void) {
  (void)tsanom_heartbeat_finish();
}
