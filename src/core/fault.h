/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of failures through tsanom_exec.fault. A function that detects an error
 * returns the value of one of these, so that status and report cannot disagree:
 *
 *   if (!x) return tsn_reject(exec, TSANOM_E_NULL, "x");
 *   if (i < n) return tsn_reject_at(exec, TSANOM_E_NONFINITE, "x", i);
 *
 * `exec` is a checked exec, or NULL for functions without one: then only the status is
 * returned. If several threads can fail, reduce to the smallest element first and
 * report once, on the calling thread. */
#ifndef TSN_CORE_FAULT_H
#define TSN_CORE_FAULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <tsanom/base.h>

/* vsnprintf() of the C locale: sentences do not follow that of the host. */
int tsn_format(char *text, size_t size, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));

/* The text of errno, which strerror() would translate, and strerrordesc_np() has from
 * glibc 2.32 on. */
const char *tsn_error_text(int error);

/* Whether the caller initialized the struct. */
bool tsn_fault_is_prepared(const tsanom_fault *fault);

/* The argument named `argument` (a constant string such as "options.radius") is
 * rejected; the text is the description of the status. */
tsanom_status tsn_reject(const tsanom_exec *exec, tsanom_status status,
                         const char *argument);

/* TSANOM_E_NULL unless the pointer named `argument` is set. */
static inline tsanom_status tsn_require(const tsanom_exec *exec, const void *pointer,
                                        const char *argument) {
  return pointer ? TSANOM_OK : tsn_reject(exec, TSANOM_E_NULL, argument);
}

/* As tsn_reject() for one element of an array. */
tsanom_status tsn_reject_at(const tsanom_exec *exec, tsanom_status status,
                            const char *argument, size_t element);

/* The same for the field "name.field", or its element; TSANOM_NONE: the field. */
tsanom_status tsn_reject_field(const tsanom_exec *exec, tsanom_status status,
                               const char *name, const char *field, size_t element);

/* As tsn_reject_at() for an element with two indices. */
tsanom_status tsn_reject_pair(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t element, size_t second);

/* The same with a text of the caller's own that states what is expected; element
 * TSANOM_NONE: the argument as a whole. */
tsanom_status tsn_reject_text(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t element, const char *format,
                              ...) __attribute__((format(printf, 5, 6)));

/* The same for an element with two indices. */
tsanom_status tsn_reject_pair_text(const tsanom_exec *exec, tsanom_status status,
                                   const char *argument, size_t element, size_t second,
                                   const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Pass a fault that a call found on its way to the caller's. */
void tsn_fault_forward(const tsanom_exec *exec, const tsanom_fault *found);

/* A position in a file; line and column count from 1, 0: unknown. */
typedef struct {
  const char *file;
  uint64_t offset, line, column;
} tsn_file_place;

/* A file is rejected; the text states what is wrong there and what is expected. The
 * fault keeps the end of a path that is too long. */
tsanom_status tsn_reject_file(const tsanom_exec *exec, tsanom_status status,
                              const tsn_file_place *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
