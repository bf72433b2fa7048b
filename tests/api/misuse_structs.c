/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid structs and objects for misuse.py. The file comes after misuse_values.c, whose
 * sizes it uses. */

/* ---- sets, tables and measurements */

#define SET_VALUE(name, suffix, real)                             \
  static value name(void) {                                       \
    tsanom_series##suffix *made = take_struct(sizeof *made);      \
    *made = (tsanom_series##suffix){.struct_size = sizeof *made}; \
    made->data = make_const_##real().pointer;                     \
    made->count = made->length = SIZE;                            \
    return (value){.pointer = made};                              \
  }

SET_VALUE(make_const_tsanom_series, , double)
SET_VALUE(make_const_tsanom_series_f32, _f32, float)

static value make_const_tsanom_roughset_table(void) {
  tsanom_roughset_table *made = take_struct(sizeof *made);
  *made = (tsanom_roughset_table){.struct_size = sizeof *made};
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

static int32_t stop_at_once(void *user, const tsanom_runs_visit *visit) {
  (void)user;
  (void)visit;
  return 1;
}

static value make_const_tsanom_runs_visitor(void) {
  tsanom_runs_visitor *made = take(sizeof *made);
  *made = (tsanom_runs_visitor){.visit = stop_at_once};
  return (value){.pointer = made};
}

static value make_tsanom_runs_loop(void) {
  tsanom_runs_loop *made = take(sizeof *made);
  *made = (tsanom_runs_loop){.iterations = SIZE - 1};
  made->begin = make_const_double().pointer;
  made->processor_s = take(SIZE * sizeof(double));
  return (value){.pointer = made};
}

static value make_tsanom_optics_ordering(void) {
  tsanom_optics_ordering *made = take_struct(sizeof *made);
  *made = (tsanom_optics_ordering){.struct_size = sizeof *made, .eps = INFINITY};
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
  *made = (tsanom_spmd_data){.struct_size = sizeof *made};
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
  *made = (tsanom_spmd_report){.struct_size = sizeof *made};
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

static value make_const_tsanom_spmd_report(void) {
  return make_tsanom_spmd_report();
}

static value make_const_tsanom_spmd_row(void) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                      "g", "h", "i", "j", "k", "l"};
  tsanom_spmd_row *made = take_struct(sizeof *made);
  *made = (tsanom_spmd_row){.struct_size = sizeof *made};
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

static value make_tsanom_heartbeat_init_options(void) {
  tsanom_record_options *made = take_struct(sizeof *made);
  (void)tsanom_record_options_init(made, sizeof *made);
  return (value){.pointer = made};
}

static value make_const_tsanom_record_options(void) {
  tsanom_record_options *made = make_tsanom_heartbeat_init_options().pointer;
  made->channels = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS;
  made->helper = TSANOM_RECORD_HELPER_NONE;
  return (value){.pointer = made};
}

static value make_tsanom_change_comparison(void) {
  tsanom_change_comparison *made = take_struct(sizeof *made);
  made->struct_size = sizeof *made;
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
  *made = (tsanom_polyfit_model){.struct_size = sizeof *made};
  (void)tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, made);
  return (value){.pointer = made};
}

static void prepare_tsanom_diagnosis_watch(void *made) {
  const tsanom_diagnosis_anomaly *found;
  size_t count;
  (void)tsanom_diagnosis_watch_update(made, misuse_runs, NULL, &found, &count);
}

static value make_tsanom_diagnosis_rank(void) {
  tsanom_diagnosis_rank *made = take_struct(sizeof *made);
  *made = (tsanom_diagnosis_rank){.watch = NULL};
  return (value){.pointer = made};
}

NUMBER_VALUE(make_tsanom_diagnosis_watch_pulse_thread, size, 0)

static void prepare_tsanom_polyfit_stream(void *made) {
  const double *x = make_const_double().pointer;
  (void)tsanom_polyfit_stream_push(made, x, x, NULL, SIZE, NULL);
}

static value make_const_tsanom_hsa_run(void) {
  tsanom_hsa_run *made = take(SIZE * sizeof *made);
  memcpy(made, misuse_runs, sizeof misuse_runs);
  return (value){.pointer = made};
}

static value make_tsanom_hsa_verdict_verdicts(void) {
  tsanom_hsa_verdict *made = take(SIZE * sizeof *made);
  for (int i = 0; i < SIZE; i++) made[i].struct_size = sizeof *made;
  return (value){.pointer = made};
}

static value make_const_tsanom_hsa_step(void) {
  tsanom_hsa_step *made = take(sizeof *made);
  memset(made, 0, sizeof *made);
  return (value){.pointer = made};
}

/* Of one thread; the ranges exclude nothing but negative signs. */
static value make_tsanom_diagnosis_normal(void) {
  enum { RANGES = TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS };
  tsanom_diagnosis_normal *made = take_struct(sizeof *made);
  *made = (tsanom_diagnosis_normal){.struct_size = sizeof *made};
  made->thread_count = made->run_count = 1;
  made->range = take(RANGES * sizeof *made->range);
  made->range_count = RANGES;
  for (int i = 0; i < RANGES; i++) made->range[i] = (tsanom_hsa_range){0, 100};
  return (value){.pointer = made};
}

static value make_const_tsanom_diagnosis_normal(void) {
  return make_tsanom_diagnosis_normal();
}

static value make_const_tsanom_diagnosis_finding(void) {
  tsanom_diagnosis_finding *made = take(sizeof *made);
  *made = (tsanom_diagnosis_finding){.cause = TSANOM_HSA_HANG};
  return (value){.pointer = made};
}

static value make_const_tsanom_diagnosis_window(void) {
  tsanom_diagnosis_window *made = take(sizeof *made);
  *made = (tsanom_diagnosis_window){.wall_s = 1, .cpu_s = 1};
  return (value){.pointer = made};
}

static value make_tsanom_diagnosis_summary(void) {
  tsanom_diagnosis_summary *made = take_struct(sizeof *made);
  *made = (tsanom_diagnosis_summary){.path = "run"};
  made->slow_capacity = SIZE;
  made->slow = take(SIZE * sizeof *made->slow);
  return (value){.pointer = made};
}

static value make_const_tsanom_diagnosis_summary(void) {
  return make_tsanom_diagnosis_summary();
}

static value make_const_tsanom_hsa_model_data(void) {
  tsanom_hsa_model_data *made = take_struct(sizeof *made);
  *made = (tsanom_hsa_model_data){.struct_size = sizeof *made};
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
