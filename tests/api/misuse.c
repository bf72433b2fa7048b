/* SPDX-License-Identifier: BSD-3-Clause */
/* Every public function, called with each argument in turn made invalid: NULL, counts of
 * 0 and so large that arrays do not fit the address space, NaN and infinities, structs of
 * other sizes or with a field out of range, an exec that cannot be, no memory, a workspace
 * that is too small, and the call that only asks for its size. Nothing
 * crashes. A rejected call changes nothing that the caller can see, leaves no block
 * allocated, and describes itself in the fault. The caller traps invalid operations, as a
 * Fortran program may. misuse.py writes the table of functions. */
#include "misuse.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/allocator.h"

enum {
  MOST_BLOCKS = 4096,
  MOST_PARAMETERS = 10,
  SECONDS = 60,
#ifdef __clang__
  TRAPS = 0 /* its vector code computes what the program discards, and may raise them */
#else
  TRAPS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW
#endif
};

static struct {
  void *memory, *copy;
  size_t bytes;
} blocks[MOST_BLOCKS];
static struct {
  void (*destroy)(void *made);
  void *made;
} objects[16];
static size_t block_count, object_count, cases, failures;
size_t workspace_needed;
char current[CURRENT_BYTES];

/* What the exec of a case refers to; `fault` is its fault. */
static test_allocator allocator;
tsanom_fault fault;

/* ---- a case */

void *take(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory || block_count == MOST_BLOCKS) abort();
  memset(memory, 0x41, bytes);
  blocks[block_count].memory = memory;
  blocks[block_count].copy = NULL;
  blocks[block_count++].bytes = bytes;
  return memory;
}

void *take_struct(size_t bytes) {
  char *memory = take(bytes + STRUCT_TAIL);
  memset(memory + bytes, 0, STRUCT_TAIL);
  return memory;
}

value make_exec(void) {
  tsanom_exec *exec = take_struct(sizeof *exec);
  *exec = test_exec(&allocator);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec->fault = &fault;
  return (value){.pointer = exec};
}

static void make_arguments(const function *f, value *v) {
  for (size_t i = 0; i < f->count; i++) v[i] = f->parameters[i].make();
}

void *make_object(const function *maker, void (*prepare)(void *made)) {
  value v[MOST_PARAMETERS];
  void *made = NULL;
  make_arguments(maker, v);
  v[maker->count - 1].pointer = &made;
  if (maker->call(v) < 0 || !made) {
    (void)fprintf(stderr, "%s() fails with valid arguments\n", maker->name);
    exit(1);
  }
  if (prepare) prepare(made);
  if (maker->destroy) {
    objects[object_count].destroy = maker->destroy;
    objects[object_count++].made = made;
  }
  return made;
}

static void copy_blocks(void) {
  for (size_t i = 0; i < block_count; i++) {
    blocks[i].copy = malloc(blocks[i].bytes);
    if (!blocks[i].copy) abort();
    memcpy(blocks[i].copy, blocks[i].memory, blocks[i].bytes);
  }
}

static bool blocks_are_unchanged(const void *except) {
  bool unchanged = true;
  for (size_t i = 0; i < block_count; i++) {
    if (!blocks[i].copy || blocks[i].memory == except) continue;
    unchanged &= memcmp(blocks[i].copy, blocks[i].memory, blocks[i].bytes) == 0;
  }
  return unchanged;
}

static void complain(const char *problem, tsanom_status status) {
  (void)fprintf(stderr, "%s: %s (%s)\n", current, problem, tsanom_status_name(status));
  failures++;
}

static void free_blocks(void) {
  while (object_count) {
    object_count--;
    if (objects[object_count].made) {
      objects[object_count].destroy(objects[object_count].made);
    }
  }
  if (allocator.live) {
    complain("a block remains allocated", 0);
    allocator.live = 0;
  }
  while (block_count) {
    free(blocks[--block_count].copy);
    free(blocks[block_count].memory);
  }
}

/* ---- after a call */

static const parameter *parameter_with(const function *f, int trait, size_t *at) {
  for (size_t i = 0; i < f->count; i++) {
    *at = i;
    if (f->parameters[i].traits & trait) return &f->parameters[i];
  }
  return NULL;
}

static bool is_demanded(tsanom_status status, tsanom_status valid, expectation expected) {
  switch (expected.kind) {
    case NEGATIVE:
      return status < 0 || status == TSANOM_PARTIAL;
    case AS_VALID:
      return status == valid;
    case EXACTLY:
      return status == expected.status;
    default:
      return true;
  }
}

/* Whether the fault names the argument that is invalid, and its field, or its element. */
static bool names_argument(expectation expected) {
  size_t length = strlen(expected.argument);
  if (strncmp(fault.argument, expected.argument, length) != 0) return false;
  const char *rest = fault.argument + length;
  if (!expected.field || fault.element != TSANOM_NONE) return !*rest;
  return *rest == '.' && strcmp(rest + 1, expected.field) == 0;
}

static void check_rejection(const function *f, const value *v, tsanom_status status,
                            expectation expected) {
  size_t at = 0;
  const void *memory = NULL;
  if (parameter_with(f, IS_MEMORY, &at)) memory = v[at].pointer;
  if (!blocks_are_unchanged(memory)) complain("an argument was modified", status);
  const tsanom_exec *exec = NULL;
  if (parameter_with(f, IS_EXEC, &at)) exec = v[at].pointer;
  if (!exec || exec->struct_size < sizeof *exec || exec->fault != &fault) return;
  /* An exec of another version is not read. */
  bool is_read = status != TSANOM_E_VERSION || expected.argument;
  if (fault.struct_size != sizeof fault || !is_read) return;
  if (fault.status != status || !*fault.text) complain("the fault is empty", status);
  if (expected.argument && !names_argument(expected)) {
    complain("the fault names another argument", status);
  }
}

/* Call it; destroy what it made, and forget what it destroyed. */
static tsanom_status call(const function *f, const value *v) {
  size_t at = 0;
  (void)alarm(SECONDS);
  (void)feclearexcept(FE_ALL_EXCEPT);
  (void)feenableexcept(TRAPS);
  tsanom_status status = f->call(v);
  (void)fedisableexcept(TRAPS);
  (void)alarm(0);
  if (status >= 0 && f->destroy && parameter_with(f, IS_OBJECT_OUT, &at)) {
    f->destroy(*(void **)v[at].pointer);
  }
  for (size_t i = 0; i < object_count && f->destroys; i++) {
    if (objects[i].made == v[0].pointer) objects[i].made = NULL;
  }
  return status;
}

static tsanom_status call_and_check(const function *f, value *v, tsanom_status valid,
                                    expectation expected) {
  cases++;
  copy_blocks();
  tsanom_status status = call(f, v);
  if (status < 0) check_rejection(f, v, status, expected);
  if (!is_demanded(status, valid, expected)) complain("unexpected status", status);
  if (f->after) f->after();
  return status;
}

/* ---- all functions */

static void begin_case(const function *f, value *v) {
  memset(&fault, 0, sizeof fault);
  if (f->before) f->before();
  make_arguments(f, v);
}

static tsanom_exec *exec_of(const function *f, value *v) {
  size_t at = 0;
  return parameter_with(f, IS_EXEC, &at) ? v[at].pointer : NULL;
}

static tsanom_status call_valid(const function *f) {
  value v[MOST_PARAMETERS];
  (void)snprintf(current, CURRENT_BYTES, "%s(", f->name);
  begin_case(f, v);
  workspace_needed = 0;
  if (exec_of(f, v)) exec_of(f, v)->work_needed = &workspace_needed;
  tsanom_status status = call_and_check(f, v, 0, (expectation){.kind = ANY});
  if (status < 0) complain("valid arguments are rejected", status);
  free_blocks();
  return status;
}

static void misuse(const function *f, tsanom_status valid) {
  for (size_t at = 0; at < f->count; at++) {
    for (size_t k = 0;; k++) {
      value v[MOST_PARAMETERS];
      expectation expected;
      begin_case(f, v);
      bool more = spoil(f, v, at, k, &expected);
      if (more && !f->has_status) expected = (expectation){.kind = ANY};
      if (more) (void)call_and_check(f, v, valid, expected);
      if (!more && f->after) f->after();
      free_blocks();
      if (!more) break;
    }
  }
}

/* Only what has counts is left: no array, output or callback. */
static void leave_counts(const function *f, value *v) {
  for (size_t i = 0; i < f->count; i++) {
    const parameter *p = &f->parameters[i];
    if (p->traits & MAY_MISS) v[i].pointer = NULL;
    for (size_t k = 0; p->traits & IS_VIEW && k < p->structure->field_count; k++) {
      const field *own = &p->structure->fields[k];
      if (own->kind == IS_POINTER) {
        *(void **)((char *)v[i].pointer + own->offset) = NULL;
      }
    }
  }
}

/* A call with a workspace of `bytes`, with arrays or without. */
static void work_in(const function *f, size_t bytes, bool arrays,
                    tsanom_status expected) {
  value v[MOST_PARAMETERS];
  (void)snprintf(current, CURRENT_BYTES, "%s(%zu of %zu bytes%s", f->name, bytes,
                 workspace_needed, arrays ? "" : ", no arrays");
  begin_case(f, v);
  size_t told = 0, before = allocator.calls;
  tsanom_exec *exec = exec_of(f, v);
  exec->work = malloc(bytes ? bytes : 1);
  exec->work_bytes = bytes;
  exec->work_needed = &told;
  if (!arrays) leave_counts(f, v);
  void *work = exec->work;
  (void)call_and_check(f, v, 0, (expectation){.kind = EXACTLY, .status = expected});
  if (told != workspace_needed) complain("the size differs", 0);
  if (allocator.calls != before) complain("memory is allocated beside the workspace", 0);
  free(work);
  free_blocks();
}

static void ask(const function *f, tsanom_status valid) {
  if (workspace_needed == 0) return;
  bool makes_object = f->destroy != NULL;
  work_in(f, 0, false, TSANOM_E_WORKSPACE);
  if (makes_object) {
    work_in(f, workspace_needed, false, TSANOM_E_OPTION);
  } else {
    work_in(f, workspace_needed - 1, false, TSANOM_E_WORKSPACE);
    work_in(f, workspace_needed, true, valid);
  }
}

/* The n-th allocation fails, for every n. */
static void starve(const function *f, tsanom_status valid) {
  for (size_t n = 1;; n++) {
    value v[MOST_PARAMETERS];
    (void)snprintf(current, CURRENT_BYTES, "%s(allocation %zu", f->name, n);
    begin_case(f, v);
    size_t before = allocator.calls;
    allocator.fail_at = before + n;
    tsanom_status status = call_and_check(f, v, valid, (expectation){.kind = ANY});
    bool failed = allocator.calls >= allocator.fail_at;
    allocator.fail_at = 0;
    if (failed && status != TSANOM_E_MEMORY) complain("no memory is ignored", status);
    free_blocks();
    if (!failed) break;
  }
}

/* NOLINTNEXTLINE: the process is about to end */
static void say_where(int signal) {
  static const char crashed[] = ": crashed or hung\n";
  ssize_t written = write(STDERR_FILENO, current, strlen(current));
  if (written >= 0) written = write(STDERR_FILENO, crashed, sizeof crashed - 1);
  (void)written;
  _exit(128 + signal);
}

int main(int argc, char **argv) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    (void)signal(signals[i], say_where);
  misuse_set_up();
  for (size_t i = 0; i < function_count; i++) {
    const function *f = &functions[i];
    if (argc > 1 && strcmp(argv[1], f->name) != 0) continue;
    tsanom_status valid = call_valid(f);
    ask(f, valid);
    misuse(f, valid);
    starve(f, valid);
  }
  misuse_tear_down();
  printf("%zu functions, %zu cases, %zu problems\n", function_count, cases, failures);
  return failures > 0 || cases == 0;
}
