/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways to make an argument invalid. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "misuse.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const size_t sizes[] = {0, (size_t)1 << 61, SIZE_MAX / 2, SIZE_MAX};
static const int32_t integers[] = {INT32_MIN, INT32_MAX, -1, 99};
static const double reals[] = {NAN, INFINITY, -INFINITY, -1, DBL_MAX};

static expectation exactly(tsanom_status status) {
  return (expectation){.kind = EXACTLY, .status = status};
}

static expectation of_kind(demand_kind kind) {
  return (expectation){.kind = kind};
}

/* The k-th invalid scalar at `memory`; false if there are no more. */
static bool spoil_scalar(int kind, void *memory, size_t k, expectation *expected) {
  switch (kind) {
    case IS_SIZE:
      if (k < COUNT(sizes)) *(size_t *)memory = sizes[k];
      return k < COUNT(sizes);
    case IS_INT32:
    case IS_UINT32:
      if (k < COUNT(integers)) *(int32_t *)memory = integers[k];
      return k < COUNT(integers);
    case IS_UINT64:
      if (k < COUNT(sizes)) *(uint64_t *)memory = sizes[k];
      return k < COUNT(sizes);
    case IS_REAL:
      if (k < COUNT(reals)) *(double *)memory = reals[k];
      if (k == 0) *expected = of_kind(NEGATIVE);
      return k < COUNT(reals);
    default:
      if (k == 0) *(void **)memory = NULL;
      return k == 0;
  }
}

/* The struct of another caller: shorter than any, or longer with unknown fields. */
static bool spoil_size(const parameter *p, char *memory, size_t k,
                       expectation *expected) {
  static const size_t small[] = {0, 1};
  size_t bytes = p->structure->bytes;
  if (k < COUNT(small)) {
    memcpy(memory, &small[k], sizeof *small);
    *expected = exactly(TSANOM_E_VERSION);
    expected->argument = p->name;
    expected->field = "struct_size";
    return true;
  }
  bytes += STRUCT_TAIL;
  memcpy(memory, &bytes, sizeof bytes);
  *expected = of_kind(AS_VALID);
  if (k == COUNT(small) + 1 && p->traits & IS_CONST && !(p->traits & IS_ALLOCATOR)) {
    memory[bytes - 1] = 1;
    *expected = exactly(TSANOM_E_VERSION);
  }
  return k <= COUNT(small) + 1;
}

/* A size query need not check fields that do not change the size. */
static bool spoil_field(const function *of, const parameter *p, char *memory, size_t k,
                        expectation *expected) {
  const structure *s = p->structure;
  enum { VALUES = 5 };
  size_t i = k / VALUES;
  if (i >= s->field_count) return false;
  const field *f = &s->fields[i];
  size_t length = strlen(current);
  (void)snprintf(current + length, CURRENT_BYTES - length, ".%s", f->name);
  expectation any;
  bool spoiled = spoil_scalar(f->kind, memory + f->offset, k % VALUES, &any);
  bool is_option = s->versioned && p->traits & IS_CONST && f->kind != IS_POINTER;
  bool is_number = f->kind == IS_REAL || f->kind == IS_INT32;
  bool is_query = strstr(of->name, "_size") != NULL;
  if (f->must_be_0 || (is_option && is_number && !is_query && k % VALUES == 0)) {
    *expected = of_kind(NEGATIVE);
    expected->argument = p->name;
    expected->field = f->name;
  }
  if (!spoiled) *expected = of_kind(AS_VALID);
  return true;
}

static bool spoil_exec(tsanom_exec *exec, int traits, size_t k, expectation *expected) {
  static char work[1];
  bool is_used = !(traits & IS_ALLOCATOR) && !(k < 3 && k > 0 && traits & IGNORES_ISA);
  if (is_used || k == 3 || k == 4) *expected = exactly(TSANOM_E_EXEC);
  switch (k) {
    case 0:
      exec->threads = -1;
      return true;
    case 1:
      exec->isa = -1;
      return true;
    case 2:
      exec->isa = 99;
      return true;
    case 3:
      exec->alloc = NULL;
      return true;
    case 4:
      exec->dealloc = NULL;
      return true;
    case 5:
      exec->work = work;
      exec->work_bytes = 0;
      *expected = workspace_needed ? exactly(TSANOM_E_WORKSPACE) : of_kind(ANY);
      return true;
    case 6:
      fault.struct_size = 1;
      if (is_used) *expected = exactly(TSANOM_E_VERSION);
      return true;
    default:
      return false;
  }
}

static bool spoil_samples(const parameter *p, value *v, size_t k, expectation *expected) {
  *expected = of_kind(NEGATIVE);
  expected->argument = p->name;
  if (k > 2) return false;
  if (p->traits & SAMPLES) *(double *)v->pointer = reals[k];
  if (p->traits & SAMPLES_F32) *(float *)v->pointer = (float)reals[k];
  return true;
}

static bool spoil_text(value *v, size_t k) {
  enum { LONG = 10000 };
  if (k > 1) return false;
  char *text = take(LONG);
  if (k == 0) *text = '\0';
  text[LONG - 1] = '\0';
  v->pointer = text;
  return true;
}

/* Memory for an object at an odd address is as good; too little is not. */
static bool spoil_memory(value *v, size_t k, expectation *expected) {
  if (k == 0) {
    v[0].pointer = (char *)v[0].pointer + 1;
    v[1].size--;
    *expected = of_kind(AS_VALID);
    return true;
  }
  v[1].size = k - 1;
  *expected = exactly(TSANOM_E_WORKSPACE);
  return k < 3;
}

static bool spoil_pointer(const function *f, value *v, size_t at, size_t k,
                          expectation *expected) {
  const parameter *p = &f->parameters[at];
  enum { KINDS_OF_SIZE = 4 };
  if (k-- == 0) {
    v[at].pointer = NULL;
    if (p->traits & REQUIRED) {
      *expected = exactly(TSANOM_E_NULL);
      expected->argument = p->name;
    }
    return true;
  }
  if (p->traits & (SAMPLES | SAMPLES_F32)) return spoil_samples(p, &v[at], k, expected);
  if (p->traits & IS_TEXT) return spoil_text(&v[at], k);
  if (p->traits & IS_MEMORY) return spoil_memory(&v[at], k, expected);
  if (!p->structure) return false;
  if (p->structure->versioned) {
    if (k < KINDS_OF_SIZE) return spoil_size(p, v[at].pointer, k, expected);
    k -= KINDS_OF_SIZE;
  }
  if (p->traits & (IS_EXEC | IS_ALLOCATOR)) {
    return spoil_exec(v[at].pointer, p->traits, k, expected);
  }
  return spoil_field(f, p, v[at].pointer, k, expected);
}

bool spoil(const function *f, value *v, size_t at, size_t k, expectation *expected) {
  const parameter *p = &f->parameters[at];
  *expected = of_kind(ANY);
  (void)snprintf(current, CURRENT_BYTES, "%s(%s #%zu", f->name, p->name, k);
  if (p->kind == IS_POINTER) return spoil_pointer(f, v, at, k, expected);
  if (p->traits & IS_BYTES) {
    v[at].size = k;
    *expected = of_kind(NEGATIVE);
    return k < 2;
  }
  if (p->traits & AT_LEAST_1 && k == 0) {
    *expected = of_kind(NEGATIVE);
    expected->argument = p->name;
  }
  return spoil_scalar(p->kind, &v[at], k, expected);
}
