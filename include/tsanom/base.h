/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The ground every room of libtsanom stands on: status values, versions,
 *  instruction-set levels, and how a computation is to be run. */
#ifndef TSANOM_BASE_H
#define TSANOM_BASE_H

#include <stddef.h>
#include <stdint.h>

/** Marks a function of the public interface. */
#if defined(__GNUC__)
#define TSANOM_API __attribute__((visibility("default")))
#else
#define TSANOM_API
#endif

/** Version of the headers; tsanom_version() tells that of the library. */
#define TSANOM_VERSION_MAJOR 0
/** @copydoc TSANOM_VERSION_MAJOR */
#define TSANOM_VERSION_MINOR 1
/** @copydoc TSANOM_VERSION_MAJOR */
#define TSANOM_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** What a function reports: 0 done; above 0 done in part, with what is left in
 *  the outputs documented at the function; below 0 refused, and then no output
 *  was touched. */
typedef int32_t tsanom_status;

/** Values of ::tsanom_status. They are ABI: appended, never renumbered. */
enum {
  TSANOM_OK = 0,             /**< done */
  TSANOM_STOPPED = 1,        /**< the poll function asked to stop */
  TSANOM_PARTIAL = 2,        /**< a limit was reached; what was found is valid */
  TSANOM_INFEASIBLE = 3,     /**< nothing satisfies the constraints given */
  TSANOM_CUTOFF = 4,         /**< abandoned: the result lies above the cut-off */
  TSANOM_RANK_DEFICIENT = 5, /**< the data determine only a smaller model */
  TSANOM_E_NULL = -1,        /**< a required pointer is NULL */
  TSANOM_E_COUNT = -2,       /**< a count is zero, or too small for the method */
  TSANOM_E_OPTION = -3,      /**< an option or parameter is out of its range */
  TSANOM_E_OVERFLOW = -4,    /**< a size does not fit the address space */
  TSANOM_E_NONFINITE = -5,   /**< a NaN or an infinity among the samples */
  TSANOM_E_WORKSPACE = -6,   /**< the workspace is smaller than needed */
  TSANOM_E_MEMORY = -7,      /**< the allocator gave no memory */
  TSANOM_E_VERSION = -8,     /**< a struct has a size or a field unknown here */
  TSANOM_E_EXEC = -9,        /**< bad thread count, or ISA level not available */
  TSANOM_E_STATE = -10,      /**< the object is not in a state for this call */
  TSANOM_E_IO = -11,         /**< the operating system refused a file operation */
  TSANOM_E_FORMAT = -12,     /**< a file or a model is damaged or foreign */
  TSANOM_E_ORDER = -13,      /**< samples that must increase do not */
  TSANOM_E_VALUE = -14       /**< a sample is outside the range of the method */
};

/** Explain a status in one English sentence.
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
  TSANOM_ISA_V4 = 3,   /**< x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
  TSANOM_ISA_SVE = 4   /**< AArch64 SVE */
};

/** Tell whether kernels of a level were built and this machine can run them.
 *  @param isa  one of TSANOM_ISA_*
 *  @return 1 if exec.isa may name it, else 0 */
TSANOM_API int32_t tsanom_isa_available(int32_t isa);

/** Name the level that ::TSANOM_ISA_AUTO stands for on this machine.
 *  @return one of TSANOM_ISA_*, never AUTO */
TSANOM_API int32_t tsanom_isa_best(void);

/** Name a level: "auto", "base", "v3", "v4", "sve".
 *  @param isa  one of TSANOM_ISA_*
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_isa_name(int32_t isa);

/** How to compute: threads, instruction set, memory, progress. Wherever a
 *  function takes one, NULL means one thread, the best instruction set, the C
 *  heap and no poll. Fill by tsanom_exec_init(), then change fields. */
typedef struct tsanom_exec {
  /** Set by tsanom_exec_init(): which fields this caller knows. */
  size_t struct_size;
  /** Threads to use: 1 (default) never opens a parallel region, so that such
   *  calls are safe after fork(); 0 asks for as many as OpenMP would use. */
  int32_t threads;
  /** Instruction-set level, TSANOM_ISA_*; it changes speed, never results. */
  int32_t isa;
  /** Give `bytes` of memory aligned for any type, or NULL. NULL: malloc(). */
  void *(*alloc)(size_t bytes, void *user);
  /** Take back what alloc gave. Set together with alloc, or not at all. */
  void (*dealloc)(void *block, void *user);
  /** Handed to alloc and dealloc. */
  void *alloc_user;
  /** Called by the calling thread only, now and then: `done` of `total` units
   *  of work are behind us. Nonzero asks to stop; the function then returns
   *  ::TSANOM_STOPPED as soon as it can. NULL: never called. */
  int32_t (*poll)(void *user, uint64_t done, uint64_t total);
  /** Handed to poll. */
  void *poll_user;
} tsanom_exec;

/** Write the defaults described at ::tsanom_exec.
 *  @param[out] exec         the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     exec is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_exec_init(tsanom_exec *exec, size_t struct_size);

#ifdef __cplusplus
}
#endif
#endif
