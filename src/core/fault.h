/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of failures through tsanom_exec.fault. A function that detects an error
 * returns the value of one of these, so that status and report cannot disagree:
 *
 *   if (!x) return tsn_reject_null(exec, "x", n);
 *   if (i < n) return tsn_reject_value(exec, TSANOM_E_NONFINITE, "x", i, TSANOM_NONE, x[i],
 *                                      TSN_FINITE);
 *   return tsn_require_int(exec, TSANOM_E_OPTION, "options.cost", own.cost, 0, 1);
 *
 * The texts have the value and what is expected: "x is NULL; an array of 8 is expected",
 * "x[3] is NaN; finite samples are expected", "options.cost is 7; 0 or 1 is expected".
 *
 * `exec` is a checked exec, or NULL for functions without one: then only the status is
 * returned. If several threads can fail, reduce to the smallest element first and
 * report once, on the calling thread. */
#ifndef TSN_CORE_FAULT_H
#define TSN_CORE_FAULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <tsanom/base.h>

#include "core/versioned.h"

/* vsnprintf() of the C locale: sentences do not follow that of the host. */
int tsn_format(char *text, size_t size, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));

/* The text of errno, which strerror() would translate, and strerrordesc_np() has from
 * glibc 2.32 on. */
const char *tsn_error_text(int error);

/* strtod() of a number with a decimal point, whatever the locale of the program. */
double tsn_parse_double(const char *text, char **end);

/* Whether the caller initialized the struct. */
bool tsn_fault_is_prepared(const tsanom_fault *fault);

/* The argument named `argument` (a constant string such as "options.radius") is
 * rejected, or its element, which may have two indices: "ARGUMENT", the joint, and what the
 * format writes. Element TSANOM_NONE: the argument as a whole. */
tsanom_status tsn_reject_with(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t element, size_t second,
                              const char *joint, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* "ARGUMENT is ...": the value and what is expected, as in "%zu; the index has series of %zu
 * samples". Of an element with one index, and with two. */
#define tsn_reject_is(exec, status, argument, element, ...) \
  tsn_reject_with(exec, status, argument, element, TSANOM_NONE, " is ", __VA_ARGS__)
#define tsn_reject_pair_is(exec, status, argument, element, second, ...) \
  tsn_reject_with(exec, status, argument, element, second, " is ", __VA_ARGS__)

/* "ARGUMENT: ...": a sentence of the caller's own. */
#define tsn_reject_text(exec, status, argument, element, ...) \
  tsn_reject_with(exec, status, argument, element, TSANOM_NONE, ": ", __VA_ARGS__)
#define tsn_reject_pair_text(exec, status, argument, element, second, ...) \
  tsn_reject_with(exec, status, argument, element, second, ": ", __VA_ARGS__)

/* "name.field", for a field of an argument. */
typedef struct {
  char text[sizeof((tsanom_fault *)NULL)->argument];
} tsn_field_name;

tsn_field_name tsn_name_field(const char *name, const char *field);

#define tsn_reject_field_is(exec, status, name, field, element, ...) \
  tsn_reject_is(exec, status, tsn_name_field(name, field).text, element, __VA_ARGS__)

/* The pointer is NULL; `count` elements are expected there, TSANOM_NONE: the pointer is not
 * that of an array. */
tsanom_status tsn_reject_null(const tsanom_exec *exec, const char *argument,
                              size_t count);

/* The digits, at least 9, that tell a number from all others: for texts as "%.*g". */
int tsn_digits_of(double value);

/* `value` is rejected; `expected` is the end of the sentence, such as "more than 0 and at
 * most 1 is expected". */
#define TSN_FINITE "finite samples are expected"
tsanom_status tsn_reject_value(const tsanom_exec *exec, tsanom_status status,
                               const char *argument, size_t element, size_t second,
                               double value, const char *expected);

/* A number outside of the range; most SIZE_MAX, INT32_MAX or INT64_MAX: no limit above. */
tsanom_status tsn_reject_size(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t value, size_t least,
                              size_t most);
tsanom_status tsn_reject_int(const tsanom_exec *exec, tsanom_status status,
                             const char *argument, int64_t value, int64_t least,
                             int64_t most);

/* What tsn_versioned_read() or tsn_versioned_check() rejected: `name` is NULL, or
 * "name.struct_size" is the reason. */
tsanom_status tsn_reject_struct(const tsanom_exec *exec, tsanom_status status,
                                const char *name, const tsn_versioned *type,
                                const void *caller);

/* tsn_versioned_read() and tsn_versioned_check() of the caller's struct `name`, whose
 * rejection is reported. */
static inline tsanom_status tsn_struct_read(const tsanom_exec *exec,
                                            const tsn_versioned *type, void *own,
                                            const void *caller, const char *name) {
  tsanom_status status = tsn_versioned_read(type, own, caller);
  return status < 0 ? tsn_reject_struct(exec, status, name, type, caller) : status;
}

static inline tsanom_status tsn_struct_check(const tsanom_exec *exec,
                                             const tsn_versioned *type,
                                             const void *caller, const char *name) {
  tsanom_status status = tsn_versioned_check(type, caller);
  return status < 0 ? tsn_reject_struct(exec, status, name, type, caller) : status;
}

/* The allocator returned NULL. */
tsanom_status tsn_reject_memory(const tsanom_exec *exec, size_t bytes);

/* TSANOM_E_NULL unless the pointer named `argument` is set. */
static inline tsanom_status tsn_require(const tsanom_exec *exec, const void *pointer,
                                        const char *argument) {
  return pointer ? TSANOM_OK : tsn_reject_null(exec, argument, TSANOM_NONE);
}

/* The same for an array of `count` elements. */
static inline tsanom_status tsn_require_array(const tsanom_exec *exec, const void *array,
                                              size_t count, const char *argument) {
  return array ? TSANOM_OK : tsn_reject_null(exec, argument, count);
}

/* `status` unless least <= value <= most. */
static inline tsanom_status tsn_require_size(const tsanom_exec *exec,
                                             tsanom_status status, const char *argument,
                                             size_t value, size_t least, size_t most) {
  return least <= value && value <= most
             ? TSANOM_OK
             : tsn_reject_size(exec, status, argument, value, least, most);
}

static inline tsanom_status tsn_require_int(const tsanom_exec *exec, tsanom_status status,
                                            const char *argument, int64_t value,
                                            int64_t least, int64_t most) {
  return least <= value && value <= most
             ? TSANOM_OK
             : tsn_reject_int(exec, status, argument, value, least, most);
}

/* The argument is rejected; the text is the description of the status. */
tsanom_status tsn_reject(const tsanom_exec *exec, tsanom_status status,
                         const char *argument);

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
