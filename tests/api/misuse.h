/* SPDX-License-Identifier: BSD-3-Clause */
/* What misuse.py writes about the public functions, what misuse_values.c,
 * misuse_structs.c and misuse_files.c supply, and what misuse.c and misuse_spoil.c share.
 */
#ifndef TSANOM_TEST_MISUSE_H
#define TSANOM_TEST_MISUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tsanom/hsa.h>

/* An argument. */
typedef union {
  void *pointer;
  size_t size;
  int32_t int32;
  uint32_t uint32;
  uint64_t uint64;
  double real;
} value;

enum { IS_POINTER, IS_SIZE, IS_INT32, IS_UINT32, IS_UINT64, IS_REAL };

typedef struct {
  const char *name;
  size_t offset;
  int kind;
  bool must_be_0; /* reserved */
} field;

/* A struct with public fields. */
typedef struct {
  size_t bytes;
  bool versioned; /* begins with struct_size */
  const field *fields;
  size_t field_count;
} structure;

/* How the header restricts an argument, and how it is misused. */
enum {
  REQUIRED = 1,        /* NULL is an error */
  OPTIONAL = 2,        /* NULL is as good as a value */
  AT_LEAST_1 = 4,      /* 0 is an error */
  SAMPLES = 8,         /* const double *: NaN and infinity are errors */
  SAMPLES_F32 = 16,    /* the same in single precision */
  IS_EXEC = 32,        /* const tsanom_exec * */
  IS_MEMORY = 64,      /* memory for an object; its size follows */
  IS_TEXT = 128,       /* const char * */
  IS_CONST = 256,      /* an input, and never a result */
  IS_OBJECT_OUT = 512, /* receives an object */
  IS_ALLOCATOR = 2048, /* of an exec only the allocator is used */
  IGNORES_ISA = 4096,  /* of an exec isa is not used */
  IS_BYTES = 1024,     /* the size of a block: a larger one would be a lie */
  MAY_MISS = 8192, /* an array, an output or a callback: NULL where a call only asks */
  IS_VIEW = 16384  /* a struct with counts, whose arrays may be NULL there */
};

typedef struct {
  const char *name;
  int kind, traits;
  const structure *structure; /* of what a pointer points to; NULL: none */
  value (*make)(void);        /* a valid argument */
} parameter;

typedef struct {
  const char *name;
  tsanom_status (*call)(const value *arguments); /* 0 if it returns no status */
  const parameter *parameters;
  size_t count;
  bool has_status;             /* it returns one */
  bool destroys;               /* its argument */
  void (*before)(void);        /* prepares the process; may be NULL */
  void (*after)(void);         /* and restores it */
  void (*destroy)(void *made); /* of the object that it makes; NULL: none */
} function;

extern const function functions[];
extern const size_t function_count;

/* What the header demands of the status. */
typedef enum {
  ANY,      /* nothing */
  NEGATIVE, /* some error, or TSANOM_PARTIAL for the samples before the invalid one */
  AS_VALID, /* what valid arguments give */
  EXACTLY
} demand_kind;

typedef struct {
  demand_kind kind;
  tsanom_status status;
  const char *argument; /* that the fault of an error names, and its field; NULL: any */
  const char *field;    /* NULL: the argument as a whole */
} expectation;

enum {
  STRUCT_TAIL = 64,   /* zeros after a struct */
  CURRENT_BYTES = 256 /* of `current` */
};

/* What a valid call of the function writes to exec.work_needed; 0: nothing. */
extern size_t workspace_needed;

/* The case, for messages. */
extern char current[CURRENT_BYTES];

/* What the exec of a case reports to. */
extern tsanom_fault fault;

/* Make argument `at` invalid in the k-th way; false if there are no more ways. */
bool spoil(const function *f, value *v, size_t at, size_t k, expectation *expected);

/* A new block for this case, filled with a pattern: its content is compared after a
 * rejected call. */
void *take(size_t bytes);

/* The same, in which a struct of `bytes` is followed by STRUCT_TAIL zeros. */
void *take_struct(size_t bytes);

/* The exec of a case: counts blocks, and reports to a fault. */
value make_exec(void);

/* Call a function with valid arguments and keep the object that it makes until the end of
 * the case. */
void *make_object(const function *maker, void (*prepare)(void *made));

/* Files and objects of all cases; made before the first and removed after the last. */
enum { MISUSE_PATH = 256, MISUSE_RUNS = 12, MISUSE_BEATS = 512 };
extern char misuse_run[MISUSE_PATH], misuse_model_file[MISUSE_PATH];
extern tsanom_hsa_run misuse_runs[MISUSE_RUNS];
extern tsanom_hsa_model *misuse_model;
void misuse_set_up(void);
void misuse_tear_down(void);

/* A path where nothing is. */
void misuse_new_path(char path[MISUSE_PATH]);

#endif
