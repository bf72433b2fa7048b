/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  What all modules share: status codes, versions, instruction-set levels, execution
 *  settings, error reports, and sets of series.
 *
 *  A call without options and exec is complete. Use ::tsanom_exec if one thread, the C heap
 *  or a bare status is not enough. Here it asks why a call was rejected, and how much memory
 *  another one needs:
 *
 *  @code{.c}
 *  #include <tsanom/dtw.h>
 *  double x[] = {0, 1, 2}, y[] = {0, 2, NAN, 2}, distance;
 *  tsanom_fault fault = {.struct_size = sizeof fault};
 *  tsanom_exec exec;
 *  tsanom_exec_init(&exec, sizeof exec);
 *  exec.fault = &fault;
 *  if (tsanom_dtw_distance(x, 3, y, 4, NULL, &exec, &distance) < 0) puts(fault.text);
 *  // -> y[2] is NaN; finite samples are expected
 *  size_t bytes;
 *  exec.work_needed = &bytes;
 *  exec.work = &bytes; // any address: with no bytes there, the call only asks
 *  tsanom_dtw_distance(NULL, 1000, NULL, 1000, NULL, &exec, NULL);
 *  exec.work = malloc(bytes); // for all pairs of at most 1000 samples
 *  exec.work_bytes = bytes;
 *  tsanom_dtw_distance(x, 3, x, 3, NULL, &exec, &distance);
 *  printf("%g\n", distance); // -> 0
 *  free(exec.work);
 *  @endcode
 *
 *  Errors common to all functions, with the argument and the element in
 *  tsanom_exec::fault: ::TSANOM_E_NULL, a pointer is NULL whose description does not
 *  allow it; ::TSANOM_E_VERSION, a struct is not initialized, is too small, or has a
 *  reserved field other than 0; ::TSANOM_E_OPTION, an option is out of its range;
 *  ::TSANOM_E_COUNT, a count is 0; ::TSANOM_E_OVERFLOW, a size does not fit the address
 *  space; ::TSANOM_E_WORKSPACE, exec.work or the memory of an object is too small;
 *  ::TSANOM_E_MEMORY; ::TSANOM_E_EXEC. A module lists the other errors of its functions.
 *  After an error no output is modified, except the fault. */

/* The comments of the headers use these commands of docs/aliases.doxyfile:
 *   @the{x}           parameter x: the x
 *   @options, @exec   the parameter; NULL selects the defaults
 *   @bytes            output: the size, for a block of any alignment
 *   @memory{f}        memory, bytes: the caller's block for an object, of any alignment,
 *                     at least the bytes of f(); must not move while the object is used
 *   @initializes{s}   s: the caller's struct; struct_size: its sizeof, where the caller
 *                     was compiled
 *   @array{a,n}       a: output, the first `capacity` elements, or NULL if that is 0;
 *                     n: output, their number; TSANOM_PARTIAL if it exceeds capacity
 *   @sentence         text, size: output, a sentence, terminated, truncated if necessary
 *                     (TSANOM_PARTIAL), 512 bytes are enough; length: output, or NULL,
 *                     bytes of the whole sentence without the terminator
 *   @status           returns TSANOM_OK or an error
 *   @stopped          the same, or TSANOM_STOPPED */
#ifndef TSANOM_BASE_H
#define TSANOM_BASE_H

#include <stddef.h>
#include <stdint.h>

/** @addtogroup common
 *  @{ */

/** Marks a function of the public interface. Define it before the first header of libtsanom
 *  only to build the library in another way: the archives contain hidden functions
 *  (@ref embed). */
#if defined(TSANOM_API)
#elif defined(__GNUC__)
#define TSANOM_API __attribute__((visibility("default")))
#else
#define TSANOM_API
#endif

/** Version of the headers; tsanom_version() returns the version of the library. */
#define TSANOM_VERSION_MAJOR 0
/** @copydoc TSANOM_VERSION_MAJOR */
#define TSANOM_VERSION_MINOR 3
/** @copydoc TSANOM_VERSION_MAJOR */
#define TSANOM_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** @name Sentinels
 *  Floating-point results use NaN for "unknown" and infinity for "unbounded".
 *  @{ */
/** No index, or no limit, where a size is expected. */
#define TSANOM_NONE SIZE_MAX
enum {
  TSANOM_NOISE = -1, /**< no class, in arrays of labels */
  TSANOM_SPMD_NONE =
      -1 /**< the parent of a region that is nested in none, and the class of
                             no process */
};
enum {
  TSANOM_EXIT_INSIDE = 256 /**< added to the exit status of a program, 0 to 255, that
                                exits inside a parallel region */
};
/** @} */

/** Result of a function. Zero: success. Positive: the function stopped early or found
 *  only a part; its documentation states which outputs are valid. Negative: the arguments
 *  were rejected, or the work failed; no output was modified, except
 *  tsanom_exec::fault. */
typedef int32_t tsanom_status;

/** Values of ::tsanom_status. ABI: append only. */
enum {
  TSANOM_OK = 0,             /**< success */
  TSANOM_STOPPED = 1,        /**< the poll function asked to stop */
  TSANOM_PARTIAL = 2,        /**< a limit was reached; the result so far is valid */
  TSANOM_INFEASIBLE = 3,     /**< nothing satisfies the constraints */
  TSANOM_CUTOFF = 4,         /**< abandoned: the result exceeds the cut-off */
  TSANOM_RANK_DEFICIENT = 5, /**< the data determine only a smaller model */
  TSANOM_E_NULL = -1,        /**< a required pointer is NULL */
  TSANOM_E_COUNT = -2,       /**< a count is zero, or too small for the method */
  TSANOM_E_OPTION = -3,      /**< an option or parameter is out of its range */
  TSANOM_E_OVERFLOW = -4,    /**< a size does not fit the address space */
  TSANOM_E_NONFINITE = -5,   /**< a sample is NaN or infinite */
  TSANOM_E_WORKSPACE = -6,   /**< the workspace is smaller than required */
  TSANOM_E_MEMORY = -7,      /**< the allocator returned NULL */
  TSANOM_E_VERSION = -8,     /**< a struct has an unsupported size or field */
  TSANOM_E_EXEC = -9,        /**< bad thread count, or ISA level not available */
  TSANOM_E_STATE = -10,      /**< the object does not allow this call now */
  TSANOM_E_IO = -11,         /**< a file operation failed */
  TSANOM_E_FORMAT = -12,     /**< a file or a model is damaged or not ours */
  TSANOM_E_ORDER = -13,      /**< samples that must increase do not */
  TSANOM_E_VALUE = -14,      /**< a sample is outside the range of the method */
  TSANOM_E_INDEX = -15       /**< an index is out of range */
};

/** Describe a status in one English sentence.
 *  @param status  any value, known or not
 *  @return a constant string, never NULL */
TSANOM_API const char *tsanom_status_text(tsanom_status status);

/** Name a status as its constant is spelled, for logs and bindings.
 *  @param status  any value, known or not
 *  @return a constant string such as "TSANOM_E_NULL"; "?" if unknown */
TSANOM_API const char *tsanom_status_name(tsanom_status status);

/** Version of the library that is running.
 *  @return "major.minor.patch", a constant string */
TSANOM_API const char *tsanom_version(void);

/** Levels of instruction set that kernels are built for. ABI: append only. */
enum {
  TSANOM_ISA_AUTO = 0, /**< the best level this machine has (default) */
  TSANOM_ISA_BASE = 1, /**< what every machine of the architecture has */
  TSANOM_ISA_V3 = 2,   /**< x86-64-v3: AVX2, FMA, BMI2 */
  TSANOM_ISA_V4 = 3    /**< x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
};

/** Test whether kernels of a level were built and this machine can run them.
 *  @param isa  one of TSANOM_ISA_*
 *  @return 1 if exec.isa may name it, else 0 */
TSANOM_API int32_t tsanom_isa_available(int32_t isa);

/** The level that ::TSANOM_ISA_AUTO selects on this machine.
 *  @return one of TSANOM_ISA_*, never AUTO */
TSANOM_API int32_t tsanom_isa_best(void);

/** Cost of matching two samples, in all modules. ABI: append only. */
enum {
  TSANOM_COST_ABSOLUTE = 0, /**< |x - y|, as in the heartbeat paper (default) */
  TSANOM_COST_SQUARED = 1   /**< (x - y)^2; no root is taken of the sum */
};

/** States of a run, in all modules. ABI: append only. */
enum {
  TSANOM_RUN_UNKNOWN = 0,  /**< not known, as of a CSV file */
  TSANOM_RUN_FINISHED = 1, /**< the program ended the recording */
  TSANOM_RUN_KILLED = 2,   /**< the program ended and did not end the recording */
  TSANOM_RUN_RUNNING = 3   /**< the program goes on */
};

/** Where and why a call failed. Begin with `{.struct_size = sizeof x}` and point
 *  tsanom_exec::fault to it. A call writes it only if it returns a negative
 *  status. The strings belong to the struct. */
typedef struct tsanom_fault {
  size_t struct_size;   /**< sizeof, set by the caller */
  tsanom_status status; /**< the status that the call returned; 0: no failure yet */
  int32_t reserved0;    /**< 0 */
  size_t element;       /**< smallest offending index within the argument, for every
                             thread count; ::TSANOM_NONE: none */
  size_t second;        /**< second index where an offence has two (column of a matrix,
                             sample of a series in a set); ::TSANOM_NONE: none */
  uint64_t offset;      /**< byte offset in `file` */
  uint64_t line;        /**< line in `file`, from 1; 0: not a text file */
  uint64_t column;      /**< column in the line, from 1; 0: unknown */
  char argument[64];    /**< argument or field, such as "options.radius"; empty: none */
  char file[512];       /**< path of the file, at most its last 511 bytes; empty: none */
  char text[256];       /**< what is wrong, and what is expected: one sentence */
} tsanom_fault;

/** How to compute: threads, instruction set, memory, progress, error report. Wherever a
 *  function has an exec parameter, NULL selects one thread, the best instruction set, the
 *  C heap, no poll, no workspace, and no fault. Initialize it with tsanom_exec_init(),
 *  then change fields. An exec with a workspace or a fault must not be used by two calls
 *  at the same time, nor by its own poll function.
 *
 *  **Stack.** A function needs at most 12 KiB of the caller's stack, besides what your
 *  callbacks take. Threads of OpenMP have their own (OMP_STACKSIZE).
 *
 *  **Callbacks must return:** alloc, dealloc, visitors and distance functions; none may
 *  call longjmp() or pthread_exit(). An exception of C++ may leave the poll of a function
 *  of libtsanom: the call ends its threads, frees what it allocated, and its outputs are
 *  undefined. Elsewhere catch inside, remember, and throw again after the call:
 *
 *  @code
 *  int32_t poll(void *user, uint64_t done, uint64_t total) {
 *    try { show(done, total); return 0; }
 *    catch (...) { *static_cast<std::exception_ptr *>(user) = std::current_exception(); return 1; }
 *  }
 *  ...                                          // exec.poll_user = &error
 *  if (status == TSANOM_STOPPED && error) std::rethrow_exception(error);
 *  @endcode */
typedef struct tsanom_exec {
  size_t struct_size; /**< set by tsanom_exec_init() */
  /** Threads to use. 1 (default) never opens a parallel region. 0 uses as many
   *  threads as OpenMP would. In the child of a process that had several threads at
   *  fork(), every call uses one thread. Results do not depend on it. If the system does
   *  not allow that many threads when a process first asks for them (RLIMIT_AS, pids
   *  limit of a container), calls use half of what it allows. At a limit that is reached
   *  later, the OpenMP runtime ends the process: it reports no error. */
  int32_t threads;
  /** Instruction-set level, TSANOM_ISA_*; it changes speed, never results. */
  int32_t isa;
  /** Return `bytes` of memory aligned for any type, or NULL. NULL: malloc(). */
  void *(*alloc)(void *alloc_user, size_t bytes);
  /** Release a block that alloc returned. Set both, or neither. */
  void (*dealloc)(void *alloc_user, void *block);
  /** First argument of alloc and dealloc. */
  void *alloc_user;
  /** Called from time to time, by the calling thread only, when `done` of `total`
   *  units of work are finished. `total` is 0 where the end is not known, as of an
   *  enumeration: do not divide by it. A call may have several parts one after another,
   *  each with a `total` of its own and `done` from 0 on, and may end before `done` is
   *  `total`. Nonzero asks to stop: the function then returns
   *  ::TSANOM_STOPPED as soon as it can. NULL: never called. */
  int32_t (*poll)(void *poll_user, uint64_t done, uint64_t total);
  /** First argument of poll. */
  void *poll_user;
  /** Workspace of the call, of any alignment; see `work_needed` for its size. NULL: the
   *  function allocates one block and frees it before it returns. A function that makes
   *  an object rejects it (::TSANOM_E_OPTION). */
  void *work;
  size_t work_bytes; /**< bytes at `work`; 0 where `work` is NULL */
  /** Receives the position and cause of a failure. NULL: not wanted. */
  tsanom_fault *fault;
  /** Receives the bytes of workspace that this call needs, at least 64; of a function
   *  that makes an object, the bytes that it takes from `alloc`. It is written once exec,
   *  options, sizes of structs and counts are checked, before arrays are looked at, and
   *  changes nothing else. NULL: not wanted.
   *
   *  To ask without computing, set `work` to any address and leave `work_bytes` 0: the
   *  call returns ::TSANOM_E_WORKSPACE. Arrays, outputs, callbacks and the samples of a
   *  view may be NULL then; structs that hold counts, and objects, must be given. The
   *  size depends on counts, options, threads and level, never on samples; a larger
   *  count never needs less. With `threads` 0 it is that of the processors of the
   *  moment. A function that uses no workspace writes nothing here, and computes. */
  size_t *work_needed;
} tsanom_exec;

/** Write the defaults described at ::tsanom_exec. @initializes{exec} */
TSANOM_API tsanom_status tsanom_exec_init(tsanom_exec *exec, size_t struct_size);

/** A set of series: the rows of a matrix, or separate arrays. Begin with
 *  `{.struct_size = sizeof x}`, then set `count` and either `data` and `length`, or `pointers`
 *  and `length` or `lengths`. The view does not own the samples. */
typedef struct tsanom_series {
  size_t struct_size; /**< sizeof, set by the caller */
  size_t count;       /**< number of series */
  const double *data; /**< series i begins at data + i*ld; NULL: see `pointers` */
  size_t ld;          /**< elements from series to series; 0: length*stride */
  size_t length;      /**< samples of each series, unless `lengths` is set */
  const double *const *pointers; /**< series i begins at pointers[i]; NULL: see `data` */
  const size_t *lengths;         /**< samples of each at `pointers`; NULL: `length` */
  size_t dimensions;             /**< components of a sample; 0: 1 */
  size_t stride; /**< elements from one sample to the next; 0: `dimensions` */
} tsanom_series;

/** ::tsanom_series in single precision. */
typedef struct tsanom_series_f32 {
  size_t struct_size;           /**< sizeof, set by the caller */
  size_t count;                 /**< see tsanom_series::count */
  const float *data;            /**< see tsanom_series::data */
  size_t ld;                    /**< see tsanom_series::ld */
  size_t length;                /**< see tsanom_series::length */
  const float *const *pointers; /**< see tsanom_series::pointers */
  const size_t *lengths;        /**< see tsanom_series::lengths */
  size_t dimensions;            /**< see tsanom_series::dimensions */
  size_t stride;                /**< see tsanom_series::stride */
} tsanom_series_f32;

/** Save the state of an object, for a checkpoint: a block without pointers, for this
 *  version of the library and machines of the same byte order. O(size of the state).
 *  @param      object    a ::tsanom_dpd_event, ::tsanom_dpd_nest, ::tsanom_dpd_value,
 *                        ::tsanom_polyfit_stream or ::tsanom_speedup
 *  @param[out] state     receives it; may be NULL if capacity is 0
 *  @param      capacity  bytes of `state`
 *  @param[out] bytes     bytes of the state; ::TSANOM_PARTIAL if they exceed `capacity`:
 *                        nothing was saved
 *  @status
 *  @retval TSANOM_E_STATE  objects of another type cannot be saved */
TSANOM_API tsanom_status tsanom_save(const void *object, void *state, size_t capacity,
                                     size_t *bytes);

/** Bring an object into a saved state. It then continues where the saved one was: the
 *  same samples give the same results, bit by bit. Make it first, with the options that
 *  the saved one was made with; instruction set, allocator and callbacks may differ.
 *
 *  @code
 *  tsanom_dpd_nest_create(&options, NULL, &nest);
 *  if (has_checkpoint) tsanom_restore(nest, state, state_bytes, NULL);
 *  @endcode
 *
 *  Any bytes may be passed as a state. After an error the object is as it was before.
 *  Workspace: the size of the object.
 *  @param object       of the type of the saved one
 *  @param state        the result of tsanom_save()
 *  @param state_bytes  its bytes
 *  @exec @status
 *  @retval TSANOM_E_FORMAT   the state is damaged, or of an object of another type
 *  @retval TSANOM_E_OPTION   the saved object was made with other options
 *  @retval TSANOM_E_VERSION  another version of the library has saved it
 *  @retval TSANOM_E_STATE    as tsanom_save() */
TSANOM_API tsanom_status tsanom_restore(void *object, const void *state,
                                        size_t state_bytes, const tsanom_exec *exec);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
