/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom compare: is one set of runs slower than another one, where, and is it
 * significant? The runs were recorded, or are executed in turn. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/change.h>
#include <tsanom/hsa.h>
#include <tsanom/roughset.h>
#include <unistd.h>

#include "beats.h"
#include "command.h"
#include "environment.h"
#include "json_value.h"
#include "number.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"

/* ---- labels
 *
 * The file RUN/regions/labels, or that of the first rank, has a line KEY=VALUE for each label. The
 * runs are the rows of a decision table, keys its attributes, and the set of a run is the
 * decision: a reduct distinguishes the sets. */

enum { LABEL_KEYS = 64, LABEL_SETS = 8 };

/* Labels of several runs as a decision table. Zero it before use. */
typedef struct {
  char *key[LABEL_KEYS];
  size_t keys;
  char **value; /* of run i and key k at i * LABEL_KEYS + k; NULL: none */
  size_t runs, capacity;
  /* Smallest sets of keys whose values tell the sets of runs apart, as bits. */
  uint64_t set[LABEL_SETS];
  size_t sets;
} run_labels;

/* The place of a key, a new one for a new key; LABEL_KEYS: there are too many. */
static size_t place_of(run_labels *l, const char *key) {
  size_t k = 0;
  while (k < l->keys && strcmp(l->key[k], key) != 0) k++;
  if (k == l->keys && k < LABEL_KEYS) l->key[l->keys++] = make_text("%s", key);
  return k;
}

static void read_lines(run_labels *l, FILE *file, char **value) {
  char *line = NULL;
  size_t bytes = 0;
  while (getline(&line, &bytes, file) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    char *equals = strchr(line, '=');
    if (!equals) continue;
    *equals = '\0';
    size_t k = place_of(l, line);
    if (k == LABEL_KEYS) continue;
    free(value[k]);
    value[k] = make_text("%s", equals + 1);
  }
  free(line);
}

/* A run without the file, or a file of beats, has no labels. What somebody else put there is neither waited for
 * nor read without an end. */
static int read_file(run_labels *l, const char *name, char **value, failure *why) {
  struct stat about;
  int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return 0;
  if (descriptor < 0) return fail_errno(why, name, "read");
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_size > ENVIRONMENT_LABELS_BYTES) {
    close(descriptor);
    return fail(why, "%s: a file of at most %d bytes is expected", name,
                ENVIRONMENT_LABELS_BYTES);
  }
  FILE *file = fdopen(descriptor, "r");
  if (!file) end_without_memory();
  read_lines(l, file, value);
  (void)fclose(file);
  return 0;
}

/* Add the labels of a run, which has none if it was recorded without. */
static int run_labels_read(run_labels *l, const char *path, failure *why) {
  int32_t *ranks;
  size_t count;
  reserve(&l->value, &l->capacity, l->runs + 1, LABEL_KEYS * sizeof *l->value);
  char **value = l->value + l->runs++ * LABEL_KEYS;
  memset(value, 0, LABEL_KEYS * sizeof *value);
  if (run_ranks(path, &ranks, &count, why)) return -1;
  char *name = count ? make_text("%s/rank.%d/regions/labels", path, (int)ranks[0])
                     : make_text("%s/regions/labels", path);
  int failed = read_file(l, name, value, why);
  free(ranks);
  free(name);
  return failed;
}

static const char *value_of(const run_labels *l, size_t run, size_t key) {
  return l->value[run * LABEL_KEYS + key];
}

/* The first run from one on that has the same value, or none, too. */
static size_t first_alike(const run_labels *l, size_t first, size_t run, size_t key) {
  const char *own = value_of(l, run, key);
  for (; first < run; first++) {
    const char *other = value_of(l, first, key);
    if (own && other ? !strcmp(own, other) : own == other) break;
  }
  return first;
}

static int32_t code_of(const run_labels *l, size_t run, size_t key) {
  return value_of(l, run, key) ? (int32_t)first_alike(l, 0, run, key)
                               : TSANOM_ROUGHSET_MISSING;
}

/* A key of which each run has its own value, such as a date, would tell all apart. */
static int is_name(const run_labels *l, size_t key) {
  size_t i = 0;
  while (i < l->runs && code_of(l, i, key) == (int32_t)i) i++;
  return i == l->runs;
}

static int32_t keep(void *labels, const uint64_t *reduct, size_t size) {
  run_labels *l = labels;
  if (size) l->set[l->sets++] = *reduct;
  return l->sets == LABEL_SETS;
}

static tsanom_status discern(run_labels *l, const tsanom_roughset_table *table) {
  tsanom_roughset_visitor visitor = {keep, l};
  tsanom_roughset_bounds bounds;
  uint64_t first;
  size_t alike;
  tsanom_status status = tsanom_roughset_inconsistent(table, NULL, NULL, NULL, 0, &alike);
  if (status < 0 || alike) return status;
  return tsanom_roughset_minimum(table, NULL, NULL, &visitor, &bounds, &first, NULL);
}

/* Find `set`, if all runs of the first `a` differ from all others in some label. */
static int run_labels_discern(run_labels *l, size_t a, failure *why) {
  tsanom_roughset_table table;
  if (!l->keys) return 0;
  int32_t *codes = allocate(l->runs * (l->keys + 1), sizeof *codes);
  int32_t *decision = codes + l->runs * l->keys;
  for (size_t k = 0; k < l->keys; k++) {
    for (size_t i = 0; i < l->runs && !is_name(l, k); i++) {
      codes[i * l->keys + k] = code_of(l, i, k);
    }
  }
  for (size_t i = 0; i < l->runs; i++) decision[i] = i >= a;
  table = (tsanom_roughset_table){.struct_size = sizeof table};
  table.rows = l->runs;
  table.attributes = l->keys;
  table.values = codes;
  table.decision = decision;
  tsanom_status status = discern(l, &table);
  free(codes);
  return status < 0 ? fail_status(why, "labels", status) : 0;
}

static void print_values(const run_labels *l, size_t key, size_t first, size_t end) {
  enum { SHOWN = 3 };
  size_t shown = 0;
  for (size_t i = first; i < end; i++) {
    if (first_alike(l, first, i, key) < i) continue;
    const char *value = value_of(l, i, key);
    if (shown++ < SHOWN) printf("%s%s", shown > 1 ? ", " : "", value ? value : "none");
  }
  if (shown > SHOWN) printf(" and more");
}

/* "commit (A: 1f3; B: 77c)" of a key. */
static void run_labels_print(const run_labels *l, size_t key, size_t a) {
  printf("%s (A: ", l->key[key]);
  print_values(l, key, 0, a);
  printf("; B: ");
  print_values(l, key, a, l->runs);
  printf(")");
}

static json_t *run_labels_to_json(const run_labels *l) {
  json_t *all = json_array();
  for (size_t s = 0; s < l->sets; s++) {
    json_t *one = json_array();
    for (size_t k = 0; k < l->keys; k++) {
      if (l->set[s] >> k & 1) json_array_append_new(one, json_name(l->key[k]));
    }
    json_array_append_new(all, one);
  }
  return all;
}

static void run_labels_free(run_labels *l) {
  for (size_t i = 0; i < l->runs * LABEL_KEYS; i++) free(l->value[i]);
  for (size_t k = 0; k < l->keys; k++) free(l->key[k]);
  free(l->value);
  *l = (run_labels){0};
}

/* ---- the numbers of a run
 *
 * Numbers of a run, each of an iteration: its mean and median time; what the thread of the
 * iterations did in regions; the work of each thread and rank; signs of the process. A
 * region has the name of its function, without file and line, which another build of the
 * program changes. */

/* What a number is of. */
enum { NUMBER_LOOP, NUMBER_REGION, NUMBER_THREAD, NUMBER_RANK, NUMBER_SIGN };

enum { NUMBER_NAME_BYTES = 512 };

/* The sign of all threads together. */
#define NUMBER_READY "ready without a processor, s"

typedef struct {
  char name[NUMBER_NAME_BYTES];
  int32_t kind;
  double value; /* seconds of an iteration; of a sign, what its name says */
} run_number;

/* Zero it before use. */
typedef struct {
  run_number *item;
  size_t count, capacity;
} run_numbers;

static run_number *find(const run_numbers *n, int32_t kind, const char *name) {
  for (size_t i = 0; i < n->count; i++) {
    if (n->item[i].kind == kind && !strcmp(n->item[i].name, name)) return &n->item[i];
  }
  return NULL;
}

/* Add a number, or add its value to that of the same name and kind. */
static void add_number(run_numbers *n, int32_t kind, const char *name, double value) {
  if (!isfinite(value)) return;
  run_number *one = find(n, kind, name);
  if (!one) {
    reserve(&n->item, &n->capacity, n->count + 1, sizeof *n->item);
    one = &n->item[n->count++];
    *one = (run_number){.kind = kind};
    (void)snprintf(one->name, sizeof one->name, "%s", name);
  }
  one->value += value;
}

static void run_numbers_free(run_numbers *n) {
  free(n->item);
  *n = (run_numbers){0};
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The upper median; sorts. */
static double median_of(double *x, size_t n) {
  qsort(x, n, sizeof *x, ascending);
  return x[n / 2];
}

/* One process of `ranks`; rank -1: the only one. */
typedef struct {
  const tsanom_hsa_run *run;
  const tsanom_runs_loop *loop;
  int32_t rank;
  run_numbers *n;
} process;

/* "compute (slow.c:7)" without its end. A function of C++ may be (anonymous namespace)::solve. */
static void cut_place(char *name) {
  char *end = NULL, *line = strrchr(name, ':');
  for (char *p = name; (p = strstr(p, " (")); p++) end = p;
  if (!line || !end || line < end) return;
  if (!strcmp(line + 1 + strspn(line + 1, "0123456789"), ")")) *end = '\0';
}

static void add_regions(const process *p) {
  static const char *const before[] = {[TSANOM_RUNS_ACTIVITY_BEFORE] = "the code before ",
                                       [TSANOM_RUNS_ACTIVITY_WAIT] = "waiting in "};
  char name[NUMBER_NAME_BYTES];
  double count = (double)p->loop->iterations;
  for (size_t k = 0; k < p->loop->count; k++) {
    const tsanom_runs_activity *item = &p->loop->activity[k];
    const char *what = before[item->what];
    if (item->thread != p->loop->thread) continue;
    (void)snprintf(name, sizeof name, "%s%s", what ? what : "", item->name);
    cut_place(name);
    add_number(p->n, NUMBER_REGION, name, item->seconds[0] / count);
  }
}

/* The work of each thread of a team; of a rank, of its thread outside of MPI. */
static void add_workers(const process *p) {
  char name[32];
  double count = (double)p->loop->iterations;
  int is_rank = p->rank >= 0;
  for (size_t k = 0; k < p->loop->count; k++) {
    const tsanom_runs_activity *item = &p->loop->activity[k];
    int is_region = item->what == TSANOM_RUNS_ACTIVITY_REGION;
    if (!is_region && item->what != TSANOM_RUNS_ACTIVITY_BEFORE) continue;
    if (!is_rank && (!is_region || p->run->thread_count < 2)) continue;
    if (is_rank && item->thread != p->loop->thread) continue;
    (void)snprintf(name, sizeof name, "%s %d", is_rank ? "rank" : "thread",
                   is_rank ? (int)p->rank : (int)item->thread);
    add_number(p->n, is_rank ? NUMBER_RANK : NUMBER_THREAD, name,
               item->seconds[0] / count);
  }
}

/* The last known value of a number of samples. */
static double last_of(const tsanom_hsa_vital *vital, size_t count, size_t offset) {
  for (size_t i = count; i-- > 0;) {
    double value;
    memcpy(&value, (const char *)&vital[i] + offset, sizeof value);
    if (!isnan(value)) return value;
  }
  return NAN;
}

static double most_memory(const tsanom_hsa_run *run) {
  double most = NAN;
  for (size_t i = 0; i < run->vital_count; i++) {
    most = fmax(most, run->vital[i].anonymous);
  }
  return most;
}

static void add_signs(const process *p) {
  const tsanom_hsa_run *run = p->run;
  double count = (double)p->loop->iterations, ready = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    double waited = last_of(s->vital, s->vital_count, offsetof(tsanom_hsa_vital, wait_s));
    if (!isnan(waited)) ready += waited;
  }
  add_number(
      p->n, NUMBER_SIGN, "processor time, s",
      last_of(run->vital, run->vital_count, offsetof(tsanom_hsa_vital, cpu_s)) / count);
  add_number(p->n, NUMBER_SIGN, NUMBER_READY, ready / count);
  add_number(
      p->n, NUMBER_SIGN, "page faults",
      last_of(run->vital, run->vital_count, offsetof(tsanom_hsa_vital, minor_faults)) /
          count);
  add_number(p->n, NUMBER_SIGN, "anonymous memory, MiB", most_memory(run) / (1 << 20));
}

static void add_loop(const process *p, double share) {
  size_t n = p->loop->iterations;
  const double *begin = p->loop->begin;
  double *seconds = allocate(n, sizeof *seconds);
  for (size_t i = 0; i < n; i++) seconds[i] = begin[i + 1] - begin[i];
  add_number(p->n, NUMBER_LOOP, "an iteration",
             share * (begin[n] - begin[0]) / (double)n);
  add_number(p->n, NUMBER_LOOP, "the median iteration", share * median_of(seconds, n));
  free(seconds);
}

/* Open a process, whose beats must be of iterations. */
static int read_beats(const char *path, const tsanom_exec *exec, int salvage, beats *b,
                      failure *why) {
  if (beats_read(path, 0, exec, salvage, b, why)) return -1;
  if (b->no_iterations) return fail(why, NO_ITERATIONS, file_title(path));
  return beats_most(b) > 1 ? 0 : fail(why, "%s: there are no iterations", path);
}

static int add_process(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t rank, double share, run_numbers *n, failure *why) {
  beats b = {0};
  double *begin = NULL;
  int failed =
      read_beats(path, exec, salvage, &b, why) || !(begin = beats_iterations(&b, why));
  if (!failed) {
    int32_t *class_of = allocate(beats_most(&b), sizeof *class_of);
    tsanom_runs_loop loop = {.iterations = beats_most(&b) - 1,
                             .begin = begin,
                             .thread = (int32_t)beats_busiest(&b.run),
                             .class_of = class_of,
                             .classes = 1};
    process p = {&b.run, &loop, rank, n};
    tsanom_status status = tsanom_runs_activities(b.source, NULL, &loop);
    if (status < 0) failed = fail_status(why, "the region events", status);
    add_regions(&p);
    add_workers(&p);
    add_signs(&p);
    add_loop(&p, share);
    free(class_of);
  }
  free(begin);
  beats_free(&b);
  return failed ? -1 : 0;
}

/* The numbers of a recorded run. Of several ranks, regions and signs are sums over ranks,
 * and the iteration is the mean of them. */
static int run_numbers_read(const char *path, const tsanom_exec *exec, int salvage,
                            run_numbers *n, failure *why) {
  int32_t *ranks;
  size_t count;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  if (!count) return add_process(path, exec, salvage, -1, 1, n, why);
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = add_process(own, exec, salvage, ranks[i], 1 / (double)count, n, why);
    free(own);
  }
  free(ranks);
  return failed;
}

/* ---- the comparison
 *
 * Runs are the units: each has one value of a number, whose logarithms
 * tsanom_change_compare() compares. Only the number that decides is tested at the level;
 * the others are tested each for itself, and explain a change that this one shows. */

static const double compare_level = 0.01;

/* Runs of both sets; those of the second follow the first. Zero it before use. */
typedef struct {
  run_numbers *run;
  size_t a, b; /* runs of each set */
} run_sets;

/* One number of all runs; a and b are geometric means. */
typedef struct {
  const char *name;
  int32_t kind;
  int changed; /* 1: the sets differ with significance */
  double a, b;
  double ratio, low, high; /* b / a, and its interval of 95 % */
  double significance;
  double detectable; /* smallest ratio above 1 that these runs can show; infinity: none */
} compared;

/* Zero it before use. */
typedef struct {
  compared *row; /* first the one that decides, then those that explain most of it */
  size_t rows;
  size_t a, b;
  int paired;
  int sequential;
  run_labels labels; /* none where commands were executed */
} comparison;

/* Logarithms of a number of all runs; 0: a run lacks it, or has none. */
static int take(const run_sets *sets, const run_number *like, double *x) {
  for (size_t i = 0; i < sets->a + sets->b; i++) {
    const run_number *one = find(&sets->run[i], like->kind, like->name);
    if (!one || !(one->value > 0)) return 0;
    x[i] = log(one->value);
  }
  return 1;
}

static double mean_of(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum / (double)n;
}

static int compare_one(const run_sets *sets, const tsanom_change_options *options,
                       const run_number *like, const double *x, compared *number,
                       failure *why) {
  tsanom_change_comparison c = {.struct_size = sizeof c};
  tsanom_status status =
      tsanom_change_compare(x, sets->a, x + sets->a, sets->b, options, NULL, &c);
  if (status < 0) return fail_status(why, like->name, status);
  *number = (compared){.name = like->name,
                       .kind = like->kind,
                       .changed = c.significance <= options->level,
                       .a = exp(mean_of(x, sets->a)),
                       .b = exp(mean_of(x + sets->a, sets->b)),
                       .ratio = exp(c.difference),
                       .low = exp(c.low),
                       .high = exp(c.high),
                       .significance = c.significance,
                       .detectable = exp(c.detectable)};
  return 0;
}

/* The number that decides; regions, threads and ranks by what they add to the difference;
 * signs. */
static int by_weight(const void *a, const void *b) {
  const compared *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->kind == NUMBER_LOOP) return strcmp(x->name, y->name);
  double one = fabs(x->b - x->a), other = fabs(y->b - y->a);
  return one < other ? 1 : one > other ? -1 : strcmp(x->name, y->name);
}

/* Compare the numbers that all runs have. The first number of the first run decides. The
 * runs must live as long as the comparison. */
static int compare_sets(const run_sets *sets, const tsanom_change_options *options,
                        comparison *c, failure *why) {
  size_t runs = sets->a + sets->b;
  double *x = allocate(runs, sizeof *x);
  compared *number = allocate(sets->run[0].count + 1, sizeof *number);
  int failed = 0;
  *c = (comparison){.row = number,
                    .a = sets->a,
                    .b = sets->b,
                    .paired = options->paired,
                    .sequential = options->sequential};
  for (size_t k = 0; k < sets->run[0].count && !failed; k++) {
    const run_number *like = &sets->run[0].item[k];
    if (!take(sets, like, x)) continue;
    failed = compare_one(sets, options, like, x, &number[c->rows], why);
    c->rows += !failed;
  }
  if (!failed) qsort(number, c->rows, sizeof *number, by_weight);
  if (!failed && (!c->rows || number[0].kind != NUMBER_LOOP)) {
    failed = fail(why, "the runs have no iterations in common");
  }
  free(x);
  return failed;
}

static void comparison_free(comparison *c) {
  free(c->row);
  run_labels_free(&c->labels);
  *c = (comparison){0};
}

/* Whether the second set takes longer by more than `threshold`, 0.05 for 5 %. */
static int comparison_is_slower(const comparison *c, double threshold) {
  return c->row[0].changed && c->row[0].ratio > 1 + threshold;
}

/* ---- as text and as JSON */

static const char *const kinds[] = {"loop", "region", "thread", "rank", "sign"};

/* The number that explains most of a change: a region that changed by more than half of it. Those of
 * ranks are sums over these. */
static const compared *reason_of(const comparison *c) {
  double change = c->row[0].b - c->row[0].a, ranks = 0;
  for (size_t i = 1; i < c->rows; i++) ranks += c->row[i].kind == NUMBER_RANK;
  for (size_t i = 1; i < c->rows; i++) {
    const compared *number = &c->row[i];
    double share = (number->b - number->a) / (change * fmax(1, ranks));
    if (number->kind == NUMBER_REGION && number->changed && share > 0.5) return number;
  }
  return NULL;
}

/* Whether more waiting for processors is half of a change. */
static int has_waited(const comparison *c) {
  double change = c->row[0].b - c->row[0].a;
  for (size_t i = 1; i < c->rows; i++) {
    const compared *number = &c->row[i];
    if (number->kind == NUMBER_SIGN && !strcmp(number->name, NUMBER_READY)) {
      return number->changed && change > 0 && number->b - number->a > change / 2;
    }
  }
  return 0;
}

static void print_number_of_runs(const comparison *c) {
  if (c->paired) {
    printf("%zu pairs", c->a);
  } else {
    printf("%zu + %zu runs", c->a, c->b);
  }
}

static void print_verdict(const comparison *c) {
  const compared *first = &c->row[0];
  if (!isfinite(first->detectable) && !first->changed) {
    printf("Too few runs for an answer: ");
    print_number_of_runs(c);
    printf("; %s.\n", c->sequential ? "nine pairs are the fewest"
                      : c->paired   ? "eight pairs are the fewest"
                                    : "five of each are the fewest");
    return;
  }
  printf(!first->changed    ? "No difference was found"
         : first->ratio > 1 ? "B is slower"
                            : "B is faster");
  int digits = first->changed && fabs(first->ratio - 1) < 0.01 ? 6 : 3;
  printf(": %s takes %.*g times as long", first->name, digits, first->ratio);
  if (isfinite(first->low) && isfinite(first->high) && first->low > 0) {
    printf(" (%.*g to %.*g)", digits, first->low, digits, first->high);
  }
  printf(", ");
  print_number_of_runs(c);
  const compared *reason = first->changed ? reason_of(c) : NULL;
  if (reason) printf("; most of it in %s", reason->name);
  if (first->changed && has_waited(c)) printf("; B waited for processors");
  if (!first->changed) {
    printf("; a difference of %.3g %% can be seen", 100 * (first->detectable - 1));
  }
  printf(".\n");
}

/* Sets of labels that tell the runs apart, each by itself. */
static void print_labels(const comparison *c) {
  const run_labels *l = &c->labels;
  if (!l->sets) {
    if (l->keys) printf("No labels tell the runs of A and B apart.\n");
    return;
  }
  printf("The runs of A and B differ in ");
  for (size_t s = 0; s < l->sets; s++) {
    const char *between = s ? ", or in " : "";
    for (size_t k = 0; k < l->keys; k++) {
      if (!(l->set[s] >> k & 1)) continue;
      printf("%s", between);
      run_labels_print(l, k, c->a);
      between = " and ";
    }
  }
  printf(".\n");
}

static void comparison_print(const comparison *c) {
  print_verdict(c);
  print_labels(c);
  printf("\n%-6s  %10s  %10s  %7s  %-15s  %s\n", "", "A", "B", "B / A", "95 %", "");
  for (size_t i = 0; i < c->rows; i++) {
    const compared *number = &c->row[i];
    char interval[32] = "-";
    if (isfinite(number->low) && isfinite(number->high) && number->low > 0) {
      (void)snprintf(interval, sizeof interval, "%.3f to %.3f", number->low,
                     number->high);
    }
    printf("%-6s  %10.4g  %10.4g  %7.3f  %-15s %c %.38s\n", kinds[number->kind],
           number->a, number->b, number->ratio, interval, number->changed ? '*' : ' ',
           number->name);
  }
  printf("\nseconds of an iteration, or what the name says; * changed\n");
}

static json_t *comparison_to_json(const comparison *c, double threshold) {
  json_t *changes = json_array();
  for (size_t i = 0; i < c->rows; i++) {
    const compared *number = &c->row[i];
    json_array_append_new(
        changes,
        json_pack("{ss so so so so so so so so sb}", "kind", kinds[number->kind], "name",
                  json_name(number->name), "a", json_finite(number->a), "b",
                  json_finite(number->b), "ratio", json_finite(number->ratio), "low",
                  json_finite(number->low > 0 ? number->low : NAN), "high",
                  json_finite(number->high), "significance",
                  json_finite(number->significance), "detectable",
                  json_finite(number->detectable), "changed", number->changed));
  }
  const compared *first = &c->row[0];
  const char *verdict = first->changed ? first->ratio > 1 ? "slower" : "faster"
                        : isfinite(first->detectable) ? "same"
                                                      : "too few runs";
  return json_pack("{ss sb so sI sI so so}", "verdict", verdict, "fails",
                   comparison_is_slower(c, threshold), "detectable",
                   json_finite(first->detectable), "runs_a", (json_int_t)c->a, "runs_b",
                   (json_int_t)c->b, "labels", run_labels_to_json(&c->labels), "changes",
                   changes);
}

/* The picture: the ratio of each number, with its interval. */
static int comparison_draw(const comparison *c, const char *path, failure *why) {
  enum { LINE = 26, MARGIN = 140 };
  plot p;
  if (plot_open(&p, path, "Ratio of the second set to the first", why)) return -1;
  plot_size(&p, 800, MARGIN + LINE * (int)c->rows);
  fprintf(p.script, "$rows << END\n");
  for (size_t i = 0; i < c->rows; i++) {
    const compared *number = &c->row[i];
    int is_known = isfinite(number->low) && isfinite(number->high);
    fprintf(p.script, "%.9g %zu %.9g %.9g %d\n", number->ratio, c->rows - i,
            is_known ? number->low : number->ratio,
            is_known ? number->high : number->ratio, number->changed);
  }
  fprintf(p.script, "END\nset ytics (");
  for (size_t i = 0; i < c->rows; i++) {
    fprintf(p.script, "%s\"", i ? ", " : "");
    plot_text(&p, c->row[i].name);
    fprintf(p.script, "\" %zu", c->rows - i);
  }
  fprintf(p.script,
          ")\nset ytics noenhanced\nset xlabel 'B / A, 95 %%'\n"
          "set yrange [0.5:%zu.5]\nset arrow from 1, graph 0 to 1, graph 1 nohead "
          "linecolor rgb '" PLOT_GRAY
          "'\nunset key\n"
          "plot $rows using 1:2:3:4:($5 > 0 ? 2 : 1) with xerrorbars pointtype 7 "
          "linecolor variable\n",
          c->rows);
  return plot_close(&p, why);
}

/* ---- pairs of executions
 *
 * What slows both executions of a pair cancels out, and the order
 * ABBA cancels what changes steadily. After each pair the sequential test looks at all of
 * them; its error rate holds for all looks together. */

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* The command with the number of the pair in place of each "{}", to be freed. */
static char *numbered(const char *command, size_t pair) {
  char *text;
  size_t bytes;
  FILE *out = open_text(&text, &bytes);
  while (*command) {
    int is_place = command[0] == '{' && command[1] == '}';
    if (is_place) {
      fprintf(out, "%zu", pair);
    } else {
      fputc(*command, out);
    }
    command += is_place ? 2 : 1;
  }
  close_text(out);
  return text;
}

static int start(char *command, pid_t *child) {
  char shell[] = "sh", option[] = "-c";
  char *arguments[] = {shell, option, command, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawn(child, "/bin/sh", &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static int execute(const char *command, size_t pair, run_numbers *n, failure *why) {
  char *own = numbered(command, pair), shown[QUOTED_BYTES];
  struct rusage used;
  int ended = 0;
  pid_t child = 0;
  double begin = seconds_now();
  int error = start(own, &child);
  free(own);
  if (error) {
    errno = error;
    return fail_errno(why, "/bin/sh", "start");
  }
  while (wait4(child, &ended, 0, &used) < 0 && errno == EINTR) continue;
  double elapsed = seconds_now() - begin;
  if (ended) {
    return fail(why, "--run: %s ended by %s %d in pair %zu", quoted(shown, command),
                WIFSIGNALED(ended) ? "signal" : "status",
                WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended), pair);
  }
  add_number(n, NUMBER_LOOP, "an execution", elapsed);
  add_number(n, NUMBER_SIGN, "processor time, s",
             seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
  add_number(n, NUMBER_SIGN, "most memory, MiB", (double)used.ru_maxrss / 1024);
  return 0;
}

/* The second set follows the first: runs of pair i are at i and pairs + i. */
static int execute_pair(const char *const command[2], size_t pair, size_t pairs,
                        run_numbers *run, failure *why) {
  for (size_t k = 0; k < 2; k++) {
    size_t set = (pair % 2) ^ k;
    if (execute(command[set], pair + 1, &run[set * pairs + pair], why)) return -1;
  }
  return 0;
}

static int is_decided(const comparison *c, double threshold) {
  const compared *first = &c->row[0];
  if (first->changed) return 1;
  return threshold > 0 && first->low > 1 / (1 + threshold) && first->high < 1 + threshold;
}

/* The pairs so far, as two sets one behind the other. */
static int look(const run_sets *all, size_t pairs, size_t done, comparison *c,
                failure *why) {
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  options.paired = options.sequential = 1;
  options.level = compare_level;
  run_numbers *run = allocate(2 * done, sizeof *run);
  for (size_t i = 0; i < done; i++) {
    run[i] = all->run[i];
    run[done + i] = all->run[pairs + i];
  }
  comparison_free(c);
  run_sets sets = {.run = run, .a = done, .b = done};
  int failed = compare_sets(&sets, &options, c, why);
  free(run);
  return failed;
}

/* Execute the commands by sh in the order ABBA ABBA ..., at most `pairs` times each, until
 * the time of both differs with significance, or differs by less than `threshold`
 * (0: only the former). "{}" in a command is the number of the pair. What the commands
 * print on standard output is dropped. A command that does not end with status 0 is a
 * failure. The runs get elapsed time, processor time and memory of each execution. */
static int compare_run(const char *const command[2], size_t pairs, double threshold,
                       run_sets *sets, comparison *c, failure *why) {
  sets->a = sets->b = pairs;
  sets->run = allocate(2 * pairs, sizeof *sets->run);
  for (size_t pair = 0; pair < pairs; pair++) {
    if (execute_pair(command, pair, pairs, sets->run, why) ||
        look(sets, pairs, pair + 1, c, why) || !c->row) {
      return -1;
    }
    if (isatty(STDERR_FILENO)) {
      fprintf(stderr, "\rpair %zu of at most %zu: %.3f times as long", pair + 1, pairs,
              c->row[0].ratio);
    }
    if (is_decided(c, threshold)) break;
  }
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\n");
  return 0;
}

/* ---- the command */

enum { PAIRS_DEFAULT = 60 };

typedef struct {
  shared_options shared;
  const char *command[2];
  size_t commands, pairs;
  double threshold;
  int check, paired;
} request;

/* The runs behind --against, which the parser does not see. */
static char **against;
static size_t against_count;

static void take_command(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  if (r->commands == 2) argp_error(state, "--run: two commands are expected");
  r->command[r->commands++] = text;
}

/* "5%" or "0.05". */
static void take_threshold(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  char shown[QUOTED_BYTES], *end = strchr(text, '%');
  int is_percent = end && !end[1];
  if (is_percent) *end = '\0';
  const char *wrong = number_parse(text, &r->threshold);
  if (is_percent) r->threshold /= 100;
  if (!wrong && r->threshold >= 0 && r->threshold < 10) return;
  if (is_percent) *end = '%';
  argp_error(state, "--threshold: %s: a part such as 5%%, below 1000%%, is expected",
             quoted(shown, text));
}

static void reject_against(struct argp_state *state, char *text, void *request_) {
  (void)text;
  (void)request_;
  argp_error(state, against ? "--against: given twice"
                            : "--against: runs are expected behind it, as further words");
}

static const option_row options[] = {
    {"against", 'a', "RUN...", "The second set: all runs up to the next option",
     CALL(reject_against)},
    {"run", 0, "COMMAND",
     "Execute COMMAND by sh; given twice, for both sets. {} in it is the number of the "
     "pair",
     CALL(take_command)},
    {"pairs", 0, "N", "--run: execute each command at most N times (default: 60)",
     COUNT(pairs, 1, 100000)},
    {"paired", 0, NULL,
     "The runs of both sets were executed in turn: the first of each are a pair, and so "
     "on",
     FLAG(paired)},
    {"threshold", 0, "P%",
     "--check: allow P % more time. --run: stop, too, when the difference is less than P "
     "% (default: 0%)",
     CALL(take_threshold)},
    SALVAGE_ROW,
    CHECK_ROW(check,
              "the second set takes longer, with significance, by more than the "
              "--threshold"),
};

static void check_line(struct argp_state *state, void *request_) {
  request *r = request_;
  if (r->commands == 1) argp_error(state, "--run: two commands are expected");
  if (r->commands && (r->shared.arguments || against_count)) {
    argp_error(state, "--run or runs, not both");
  }
  if (r->pairs && !r->commands) argp_error(state, "--pairs needs --run");
  if (r->paired && r->commands) argp_error(state, "--paired is for recorded runs");
  if (r->commands) return;
  if (!r->shared.arguments || !against_count) {
    argp_error(state, "runs, --against and runs are expected");
  }
  if (r->paired && r->shared.arguments != against_count) {
    argp_error(state, "--paired: as many runs of both sets are expected");
  }
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "A... --against B...\n--run COMMAND --run COMMAND",
    .help =
        "Is one set of runs slower than another one, where, and by how much?\v"
        "A and B are run directories by tsanom record. Runs are the units: five of each "
        "set are the fewest that can differ, or eight pairs. With --run, both commands "
        "are executed in the order ABBA until the answer is known, and must end with "
        "status 0.",
    .expected = "runs are",
    .check = check_line,
};

static int read_sets(const request *r, run_sets *sets, failure *why) {
  sets->a = r->shared.arguments;
  sets->b = against_count;
  sets->run = allocate(sets->a + sets->b, sizeof *sets->run);
  for (size_t i = 0; i < sets->a + sets->b; i++) {
    const char *path = i < sets->a ? r->shared.argument[i] : against[i - sets->a];
    if (run_numbers_read(path, &r->shared.exec, r->shared.salvage, &sets->run[i], why))
      return -1;
  }
  return 0;
}

/* The labels of the runs, if these differ. */
static int read_labels(const request *r, comparison *c, failure *why) {
  if (!c->row[0].changed) return 0;
  for (size_t i = 0; i < c->a + c->b; i++) {
    const char *path = i < c->a ? r->shared.argument[i] : against[i - c->a];
    if (run_labels_read(&c->labels, path, why)) return -1;
  }
  return run_labels_discern(&c->labels, c->a, why);
}

static int make(const request *r, run_sets *sets, comparison *c, failure *why) {
  tsanom_change_options how;
  if (r->commands) {
    return compare_run(r->command, r->pairs ? r->pairs : PAIRS_DEFAULT, r->threshold,
                       sets, c, why);
  }
  tsanom_change_options_init(&how, sizeof how);
  how.level = compare_level;
  how.paired = r->paired;
  return read_sets(r, sets, why) || compare_sets(sets, &how, c, why) ||
         read_labels(r, c, why);
}

/* Take --against and the runs behind it off the command line. */
static int split(int argc, char **argv) {
  int first = 1;
  while (first < argc && strcmp(argv[first], "--against") != 0 &&
         strcmp(argv[first], "-a") != 0) {
    first++;
  }
  if (first == argc) return argc;
  int end = first + 1;
  while (end < argc && argv[end][0] != '-') end++;
  against_count = (size_t)(end - first - 1);
  against = allocate(against_count + 1, sizeof *against);
  memcpy(against, argv + first + 1, against_count * sizeof *against);
  memmove(argv + first, argv + end, (size_t)(argc - end + 1) * sizeof *argv);
  return argc - (end - first);
}

int command_compare(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, split(argc, argv), argv, &r);
  run_sets sets = {0};
  comparison c = {0};
  failure why;
  int status = EXIT_DONE;
  if (make(&r, &sets, &c, &why) ||
      (r.shared.plot && comparison_draw(&c, r.shared.plot, &why))) {
    status = report_failure(&why);
  } else if (r.shared.json) {
    status = print_json(comparison_to_json(&c, r.threshold));
  } else {
    comparison_print(&c);
  }
  if (status == EXIT_DONE && r.check && comparison_is_slower(&c, r.threshold)) {
    status = EXIT_FOUND;
  }
  for (size_t i = 0; sets.run && i < sets.a + sets.b; i++) run_numbers_free(&sets.run[i]);
  free(sets.run);
  free(against);
  comparison_free(&c);
  return status;
}
