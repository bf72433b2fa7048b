/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_account(): the ledger of one run. Sums of a window are differences of
 * what each thread had counted at its ends, so that no memory is needed:
 *
 *   beats of the busiest   |--1/8--|--2/8--| ... |--8/8--|
 *   time                   e0      e1      e2    e7      e8
 *   samples of thread i   o  o  o  o  o  o  o  o  o  o  o  o
 *
 * e0 is the first moment by which each thread has a sample, e8 the last sample. */
#include <math.h>

#include "core/environment.h"
#include "core/size.h"
#include "diagnosis/causes.h"
#include "diagnosis/ledger.h"
#include "hsa/sentence.h"

enum { EDGES = TSANOM_DIAGNOSIS_WINDOWS };

typedef struct {
  const tsanom_hsa_run *run;
  tsanom_diagnosis_ledger *ledger;
  tsanom_diagnosis_share *shares; /* NULL: not wanted */
  double edge[EDGES];
  tsn_ledger_sums sums[TSANOM_DIAGNOSIS_WINDOWS];
  double nobody[EDGES];
  bool knows_ready; /* of all sampled threads */
} account;

static size_t processors_of(const tsanom_hsa_run *run) {
  const char *name;
  size_t count = tsn_diagnosis_processors(run->machine, &name);
  return count ? count : run->thread_count;
}

/* Beginning and end of a window. */
static void ends_of(size_t window, size_t ends[2]) {
  ends[0] = window ? window - 1 : 0;
  ends[1] = window ? window : EDGES - 1;
}

static void begin_windows(account *a) {
  tsn_ledger_nobody(a->run, a->edge, EDGES, a->nobody);
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    size_t e[2];
    ends_of(w, e);
    double begin = a->edge[e[0]], end = a->edge[e[1]];
    a->ledger->window[w] = (tsanom_diagnosis_window){
        .begin = begin, .end = end, .wall_s = end - begin, .samples = UINT64_MAX};
    a->sums[w] = tsn_ledger_begin(end - begin, a->nobody[e[1]] - a->nobody[e[0]]);
  }
}

static void add_thread(account *a, size_t thread) {
  const tsanom_hsa_series *s = &a->run->threads[thread];
  double cpu[EDGES], ready[EDGES], span[2];
  if (!tsn_ledger_span(s, TSN_LEDGER_CPU, span)) return;
  tsn_ledger_trace(s, TSN_LEDGER_CPU, a->edge, EDGES, cpu);
  tsn_ledger_trace(s, TSN_LEDGER_READY, a->edge, EDGES, ready);
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    tsanom_diagnosis_window *window = &a->ledger->window[w];
    size_t e[2];
    ends_of(w, e);
    double c = cpu[e[1]] - cpu[e[0]], r = ready[e[1]] - ready[e[0]];
    double beats =
        tsn_ledger_beats_at(s, window->end) - tsn_ledger_beats_at(s, window->begin);
    uint64_t samples =
        tsn_ledger_samples(s, (const double[]){window->begin, window->end});
    tsn_ledger_add(&a->sums[w], c, r);
    window->beats += beats / (double)a->ledger->sampled;
    if (samples < window->samples) window->samples = samples;
    if (!a->shares) continue;
    a->shares[w * a->run->thread_count + thread] = (tsanom_diagnosis_share){
        .cpu_s = c,
        .ready_s = a->knows_ready ? r : NAN,
        .off_s = a->knows_ready ? fmax(0, window->wall_s - c - r) : NAN,
        .beats = beats};
  }
}

static void set_entries(account *a) {
  double processors = (double)a->ledger->processors;
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    tsn_ledger_entries e = tsn_ledger_split(&a->sums[w], processors, a->sums[w].ready);
    tsanom_diagnosis_window *window = &a->ledger->window[w];
    window->cpu_s = e.cpu;
    window->ready_s = a->knows_ready ? e.ready : NAN;
    window->nobody_s = a->knows_ready ? e.nobody : NAN;
  }
}

/* What is not known. */
static void clear(account *a) {
  *a->ledger = (tsanom_diagnosis_ledger){.processors = processors_of(a->run)};
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    a->ledger->window[w] =
        (tsanom_diagnosis_window){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, {0, 0}};
  }
  size_t shares = a->shares ? TSANOM_DIAGNOSIS_WINDOWS * a->run->thread_count : 0;
  for (size_t i = 0; i < shares; i++) {
    a->shares[i] = (tsanom_diagnosis_share){NAN, NAN, NAN, NAN};
  }
}

static tsanom_status account_for(account *a) {
  clear(a);
  a->ledger->sampled =
      tsn_ledger_ends(a->run, &a->edge[0], &a->edge[EDGES - 1], &a->knows_ready);
  if (!a->ledger->sampled) return TSANOM_PARTIAL;
  const tsanom_hsa_series *busiest = &a->run->threads[tsn_diagnosis_busiest(a->run)];
  tsn_ledger_cut(busiest, (double)busiest->beats, a->edge);
  begin_windows(a);
  for (size_t t = 0; t < a->run->thread_count; t++) add_thread(a, t);
  set_entries(a);
  bool all = a->ledger->sampled == a->run->thread_count && a->knows_ready;
  return all ? TSANOM_OK : TSANOM_PARTIAL;
}

static tsanom_status check_capacity(const account *a, size_t capacity,
                                    const tsanom_exec *exec) {
  size_t threads = a->run->thread_count, windows = TSANOM_DIAGNOSIS_WINDOWS;
  if (!capacity) return TSANOM_OK;
  if (!a->shares) return tsn_reject_null(exec, "shares", capacity);
  if (capacity / windows >= threads) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_COUNT, "capacity", TSANOM_NONE,
                       "%zu; 0, or at least %zu for each of %zu threads, is expected",
                       capacity, windows, threads);
}

tsanom_status tsanom_diagnosis_account(const tsanom_hsa_run *run, const tsanom_exec *exec,
                                       tsanom_diagnosis_ledger *ledger,
                                       tsanom_diagnosis_share *shares, size_t capacity) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  if (!ledger) return tsn_reject_null(&own, "ledger", TSANOM_NONE);
  account a = {.run = run, .ledger = ledger, .shares = shares};
  tsn_environment before = tsn_environment_enter();
  status = tsn_diagnosis_check_vitals(run, "run", TSANOM_NONE, &own);
  if (status == TSANOM_OK) status = check_capacity(&a, capacity, &own);
  if (!capacity) a.shares = NULL;
  if (status == TSANOM_OK) status = account_for(&a);
  tsn_environment_leave(before);
  return status;
}

static void put_window(tsn_sentence *s, const tsanom_diagnosis_window *w) {
  if (isnan(w->wall_s) || isnan(w->cpu_s)) {
    tsn_put(s, "no samples of processor time");
    return;
  }
  tsn_put(s, "of %.3g s %.3g s on a processor", w->wall_s, w->cpu_s);
  if (isnan(w->ready_s) || isnan(w->nobody_s)) {
    tsn_put(s, ", %.3g s not", w->wall_s - w->cpu_s);
  } else {
    tsn_put(s, ", %.3g s ready without one, %.3g s nobody ran", w->ready_s, w->nobody_s);
  }
}

tsanom_status tsanom_diagnosis_window_text(const tsanom_diagnosis_window *window,
                                           char *text, size_t size, size_t *length) {
  if (!window || (!text && size > 0)) return TSANOM_E_NULL;
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  put_window(&s, window);
  return tsn_sentence_end(&s, length);
}
