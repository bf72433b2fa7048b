/* SPDX-License-Identifier: BSD-3-Clause */
/* A fault is composed in a struct of this library's size and then copied as far as the
 * caller's struct reaches, so that callers of older and newer versions are served alike.
 * Without a fault in exec no text is composed. Texts that are too long are cut:
 * snprintf() writes at most the size of the field. */
#include "core/fault.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/environment.h"
#include "core/versioned.h"

/* glibc returns a constant for "C": nothing is allocated. */
static locale_t c_locale(void) {
  return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int tsn_format(char *text, size_t size, const char *format, va_list values) {
  locale_t before = uselocale(c_locale());
  int length = vsnprintf(text, size, format, values);
  (void)uselocale(before);
  return length;
}

double tsn_parse_double(const char *text, char **end) {
  locale_t before = uselocale(c_locale());
  double value = strtod(text, end);
  (void)uselocale(before);
  return value;
}

const char *tsn_error_text(int error) {
  return strerror_l(error, c_locale());
}

static const tsanom_fault defaults = {
    .struct_size = sizeof defaults, .element = TSANOM_NONE, .second = TSANOM_NONE};

static const tsn_versioned fault_type = {
    .size = sizeof(tsanom_fault),
    .first_size = sizeof(tsanom_fault),
    .defaults = &defaults,
};

bool tsn_fault_is_prepared(const tsanom_fault *fault) {
  return tsn_versioned_check(&fault_type, fault) == TSANOM_OK;
}

/* A fault about an argument; the text is still to be written. */
static tsanom_fault describe(tsanom_status status, const char *argument, size_t element,
                             size_t second) {
  tsanom_fault own = defaults;
  own.status = status;
  own.element = element;
  own.second = second;
  (void)snprintf(own.argument, sizeof own.argument, "%s", argument);
  return own;
}

/* "argument", "argument[3]" or "argument[3][0]", followed by the joint; its length. Names
 * of arguments are short constants, so the length is below the size of the text. */
static int write_place(const tsanom_fault *fault, const char *joint, char *text,
                       size_t size) {
  if (fault->element == TSANOM_NONE) {
    return snprintf(text, size, "%s%s", fault->argument, joint);
  }
  if (fault->second == TSANOM_NONE) {
    return snprintf(text, size, "%s[%zu]%s", fault->argument, fault->element, joint);
  }
  return snprintf(text, size, "%s[%zu][%zu]%s", fault->argument, fault->element,
                  fault->second, joint);
}

static void publish(const tsanom_exec *exec, const tsanom_fault *own) {
  tsn_versioned_write(&fault_type, exec->fault, own);
}

void tsn_fault_forward(const tsanom_exec *exec, const tsanom_fault *found) {
  if (exec && exec->fault) publish(exec, found);
}

tsanom_status tsn_reject_with(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t element, size_t second,
                              const char *joint, const char *format, ...) {
  if (!exec || !exec->fault) return status;
  tsanom_fault own = describe(status, argument, element, second);
  int length = write_place(&own, joint, own.text, sizeof own.text);
  va_list values;
  va_start(values, format);
  (void)tsn_format(own.text + length, sizeof own.text - (size_t)length, format, values);
  va_end(values);
  publish(exec, &own);
  return status;
}

tsn_field_name tsn_name_field(const char *name, const char *field) {
  tsn_field_name joined;
  (void)snprintf(joined.text, sizeof joined.text, "%s.%s", name, field);
  return joined;
}

tsanom_status tsn_reject_null(const tsanom_exec *exec, const char *argument,
                              size_t count) {
  if (count == TSANOM_NONE) {
    return tsn_reject_is(exec, TSANOM_E_NULL, argument, TSANOM_NONE,
                         "NULL; an address is expected");
  }
  return tsn_reject_is(exec, TSANOM_E_NULL, argument, TSANOM_NONE,
                       "NULL; an array of %zu is expected", count);
}

int tsn_digits_of(double value) {
  enum { FEW = 9, MOST = 17 };
  char text[32];
  TSN_IN_ENVIRONMENT(before); /* the caller's may trap an overflow */
  for (int digits = FEW; digits < MOST; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return digits;
  }
  return MOST;
}

/* The sign of a NaN says nothing. */
tsanom_status tsn_reject_value(const tsanom_exec *exec, tsanom_status status,
                               const char *argument, size_t element, size_t second,
                               double value, const char *expected) {
  if (value != value) {
    return tsn_reject_pair_is(exec, status, argument, element, second, "NaN; %s",
                              expected);
  }
  return tsn_reject_pair_is(exec, status, argument, element, second, "%.*g; %s",
                            tsn_digits_of(value), value, expected);
}

typedef struct {
  char text[24]; /* any number of 64 bits */
} number;

static number number_of(int64_t value) {
  number n;
  (void)snprintf(n.text, sizeof n.text, "%lld", (long long)value);
  return n;
}

static number number_of_size(size_t value) {
  number n;
  (void)snprintf(n.text, sizeof n.text, "%zu", value);
  return n;
}

/* `choices` is the number of values in the range, 0: no limit above. */
static tsanom_status reject_range(const tsanom_exec *exec, tsanom_status status,
                                  const char *argument, number value, number least,
                                  number most, uint64_t choices) {
  if (choices == 0) {
    return tsn_reject_is(exec, status, argument, TSANOM_NONE,
                         "%s; at least %s is expected", value.text, least.text);
  }
  return tsn_reject_is(exec, status, argument, TSANOM_NONE, "%s; %s%s%s is expected",
                       value.text, least.text,
                       choices == 1   ? ""
                       : choices == 2 ? " or "
                                      : " to ",
                       choices == 1 ? "" : most.text);
}

tsanom_status tsn_reject_size(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t value, size_t least,
                              size_t most) {
  if (!exec || !exec->fault) return status;
  return reject_range(exec, status, argument, number_of_size(value),
                      number_of_size(least), number_of_size(most),
                      most == SIZE_MAX ? 0 : most - least + 1);
}

tsanom_status tsn_reject_int(const tsanom_exec *exec, tsanom_status status,
                             const char *argument, int64_t value, int64_t least,
                             int64_t most) {
  if (!exec || !exec->fault) return status;
  uint64_t choices = (uint64_t)most - (uint64_t)least + 1;
  return reject_range(exec, status, argument, number_of(value), number_of(least),
                      number_of(most),
                      most == INT32_MAX || most == INT64_MAX ? 0 : choices);
}

tsanom_status tsn_reject_memory(const tsanom_exec *exec, size_t bytes) {
  return tsn_reject_text(exec, TSANOM_E_MEMORY, "exec.alloc", TSANOM_NONE,
                         "NULL was returned for %zu bytes", bytes);
}

/* A struct that is large enough has fields that this library does not know. */
tsanom_status tsn_reject_struct(const tsanom_exec *exec, tsanom_status status,
                                const char *name, const tsn_versioned *type,
                                const void *caller) {
  if (!exec || !exec->fault) return status;
  if (!caller) return tsn_reject_null(exec, name, TSANOM_NONE);
  size_t size = tsn_versioned_struct_size(caller);
  if (size < type->first_size) {
    return tsn_reject_size(exec, status, tsn_name_field(name, "struct_size").text, size,
                           type->first_size, SIZE_MAX);
  }
  return tsn_reject_field_is(exec, status, name, "struct_size", TSANOM_NONE,
                             "%zu; 0 is expected in the bytes from %zu on", size,
                             type->size);
}

tsanom_status tsn_reject(const tsanom_exec *exec, tsanom_status status,
                         const char *argument) {
  return tsn_reject_text(exec, status, argument, TSANOM_NONE, "%s",
                         tsanom_status_text(status));
}

tsanom_status tsn_reject_file(const tsanom_exec *exec, tsanom_status status,
                              const tsn_file_place *place, const char *format, ...) {
  if (!exec || !exec->fault) return status;
  tsanom_fault own = describe(status, "", TSANOM_NONE, TSANOM_NONE);
  size_t length = strlen(place->file), most = sizeof own.file - 1;
  size_t skip = length > most ? length - most : 0;
  memcpy(own.file, place->file + skip, length - skip);
  own.offset = place->offset;
  own.line = place->line;
  own.column = place->column;
  va_list arguments;
  va_start(arguments, format);
  (void)tsn_format(own.text, sizeof own.text, format, arguments);
  va_end(arguments);
  publish(exec, &own);
  return status;
}
