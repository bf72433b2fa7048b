/* SPDX-License-Identifier: BSD-3-Clause */
/* A fault is composed in a struct of this library's size and then copied as far as the
 * caller's struct reaches, so that callers of older and newer versions are served alike.
 * Without a fault in exec no text is composed. Texts that are too long are cut:
 * snprintf() writes at most the size of the field. */
#include "core/fault.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* "argument", "argument[3]" or "argument[3][0]", followed by a colon; its length. Names
 * of arguments are short constants, so the length is below the size of the text. */
static int write_place(const tsanom_fault *fault, char *text, size_t size) {
  if (fault->element == TSANOM_NONE) {
    return snprintf(text, size, "%s: ", fault->argument);
  }
  if (fault->second == TSANOM_NONE) {
    return snprintf(text, size, "%s[%zu]: ", fault->argument, fault->element);
  }
  return snprintf(text, size, "%s[%zu][%zu]: ", fault->argument, fault->element,
                  fault->second);
}

static void publish(const tsanom_exec *exec, const tsanom_fault *own) {
  tsn_versioned_write(&fault_type, exec->fault, own);
}

void tsn_fault_forward(const tsanom_exec *exec, const tsanom_fault *found) {
  if (exec && exec->fault) publish(exec, found);
}

static tsanom_status reject(const tsanom_exec *exec, tsanom_status status,
                            const char *argument, size_t element, size_t second,
                            const char *format, va_list values) {
  if (!exec || !exec->fault) return status;
  tsanom_fault own = describe(status, argument, element, second);
  int length = write_place(&own, own.text, sizeof own.text);
  (void)tsn_format(own.text + length, sizeof own.text - (size_t)length, format, values);
  publish(exec, &own);
  return status;
}

tsanom_status tsn_reject_pair_text(const tsanom_exec *exec, tsanom_status status,
                                   const char *argument, size_t element, size_t second,
                                   const char *format, ...) {
  va_list values;
  va_start(values, format);
  (void)reject(exec, status, argument, element, second, format, values);
  va_end(values);
  return status;
}

tsanom_status tsn_reject_pair(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t element, size_t second) {
  return tsn_reject_pair_text(exec, status, argument, element, second, "%s",
                              tsanom_status_text(status));
}

tsanom_status tsn_reject_at(const tsanom_exec *exec, tsanom_status status,
                            const char *argument, size_t element) {
  return tsn_reject_pair(exec, status, argument, element, TSANOM_NONE);
}

tsanom_status tsn_reject(const tsanom_exec *exec, tsanom_status status,
                         const char *argument) {
  return tsn_reject_at(exec, status, argument, TSANOM_NONE);
}

tsanom_status tsn_reject_field(const tsanom_exec *exec, tsanom_status status,
                               const char *name, const char *field, size_t element) {
  char argument[sizeof((tsanom_fault *)NULL)->argument];
  (void)snprintf(argument, sizeof argument, "%s.%s", name, field);
  return tsn_reject_at(exec, status, argument, element);
}

tsanom_status tsn_reject_text(const tsanom_exec *exec, tsanom_status status,
                              const char *argument, size_t element, const char *format,
                              ...) {
  va_list values;
  va_start(values, format);
  (void)reject(exec, status, argument, element, TSANOM_NONE, format, values);
  va_end(values);
  return status;
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
