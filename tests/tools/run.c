/* SPDX-License-Identifier: BSD-3-Clause */
/* A command is a line of sh whose output goes to files beside the folder of the test. If
 * it ends by a signal, or a sanitizer reports, the test fails, whatever it checks. */
#include "run.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/directory.h"
#include "support/skip.h"

static char folder[DIRECTORY_CAPACITY];
static char *out, *err;
static json_t *results; /* that tsanom_json() returned */

/* The built command is the one that sh finds. */
static void set_path(void) {
  static const char command[] = TSANOM_COMMAND;
  char path[4096];
  int length = (int)(strrchr(command, '/') - command);
  (void)snprintf(path, sizeof path, "%.*s:%s", length, command, getenv("PATH"));
  cr_assert(setenv("PATH", path, 1) == 0);
  path[length] = '\0';
  cr_assert(setenv("TSANOM_BUILT", path, 1) == 0);
}

void enter_folder(void) {
  set_path();
  cr_assert(new_directory(folder), "%s cannot be made", folder);
  cr_assert(chdir(folder) == 0);
  results = json_array();
}

void leave_folder(void) {
  free(out);
  free(err);
  json_decref(results);
  cr_assert(chdir("/") == 0);
  shell_ok("rm -rf %s %s.out %s.err", folder, folder, folder);
}

void write_bytes(const char *name, const char *bytes, size_t count) {
  FILE *stream = fopen(name, "w");
  cr_assert(stream && fwrite(bytes, 1, count, stream) == count && fclose(stream) == 0);
}

void write_text(const char *name, const char *text) {
  write_bytes(name, text, strlen(text));
}

int count_files(void) {
  DIR *here = opendir(".");
  int count = 0;
  while (readdir(here)) count++;
  closedir(here);
  return count - 2;
}

char *slurp(const char *name) {
  FILE *stream = fopen(name, "r");
  cr_assert(stream, "%s cannot be read", name);
  char *text = NULL;
  size_t room = 0;
  if (getdelim(&text, &room, '\0', stream) < 0) text[0] = '\0';
  fclose(stream);
  return text;
}

static char announced[8192];

static void cut_announcement(char *text) {
  char *line = strstr(text, "tsanom record: recording to ");
  char *end = line ? strchr(line, '\n') : NULL;
  *announced = '\0';
  if (!end) return;
  (void)snprintf(announced, sizeof announced, "%.*s", (int)(end - line), line);
  memmove(line, end + 1, strlen(end + 1) + 1);
}

static outcome run(const char *arguments, va_list values) {
  char tail[2048], line[8192], out_name[DIRECTORY_CAPACITY + 8],
      err_name[DIRECTORY_CAPACITY + 8];
  snprintf(out_name, sizeof out_name, "%s.out", folder);
  snprintf(err_name, sizeof err_name, "%s.err", folder);
  vsnprintf(tail, sizeof tail, arguments, values);
  snprintf(line, sizeof line, "{ '%s' %s; } >%s 2>%s", TSANOM_COMMAND, tail, out_name,
           err_name);
  int ended = system(line);
  free(out);
  free(err);
  out = slurp(out_name);
  err = slurp(err_name);
  cut_announcement(err);
  cr_assert(WIFEXITED(ended), "%s\n  ended by a signal\n%s", tail, err);
  cr_assert(!strstr(err, "Sanitizer"), "%s\n%s", tail, err);
  return (outcome){WEXITSTATUS(ended), out, err, announced};
}

outcome tsanom(const char *arguments, ...) {
  va_list values;
  va_start(values, arguments);
  outcome o = run(arguments, values);
  va_end(values);
  return o;
}

outcome tsanom_ok(const char *arguments, ...) {
  va_list values;
  va_start(values, arguments);
  outcome o = run(arguments, values);
  va_end(values);
  cr_assert(o.status == 0, "%s\n  ended with %d: %s%s", arguments, o.status, o.out,
            o.err);
  return o;
}

static int run_line(const char *format, va_list values, char line[8192]) {
  vsnprintf(line, 8192, format, values);
  int ended = system(line);
  cr_assert(WIFEXITED(ended), "%s: ended by a signal", line);
  return WEXITSTATUS(ended);
}

int shell(const char *format, ...) {
  char line[8192];
  va_list values;
  va_start(values, format);
  int status = run_line(format, values, line);
  va_end(values);
  return status;
}

void shell_ok(const char *format, ...) {
  char line[8192];
  va_list values;
  va_start(values, format);
  int status = run_line(format, values, line);
  va_end(values);
  cr_assert(status == 0, "%s: ended with %d", line, status);
}

const char *messages_of(const char *path) {
  return tsanom("rate '%s'", path).err;
}

json_t *tsanom_json(const char *arguments, ...) {
  va_list values;
  va_start(values, arguments);
  outcome o = run(arguments, values);
  va_end(values);
  cr_assert(o.status == 0, "%s\n  ended with %d: %s", arguments, o.status, o.err);
  json_error_t error;
  json_t *value = json_loads(o.out, JSON_REJECT_DUPLICATES, &error);
  cr_assert(value, "%s\n  printed no JSON: %s\n%s", arguments, error.text, o.out);
  cr_assert(json_array_append_new(results, value) == 0);
  return value;
}

const json_t *json_lines(const char *name) {
  FILE *file = fopen(name, "r");
  json_t *lines = json_array(), *line;
  cr_assert(file, "%s cannot be read", name);
  while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
    cr_assert(json_array_append_new(lines, line) == 0);
  }
  fclose(file);
  cr_assert(json_array_append_new(results, lines) == 0);
  return lines;
}

int open_terminal(void) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) SKIP_TEST("needs a pseudoterminal, and /dev/pts is not mounted");
  cr_assert(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  return terminal;
}

char *read_terminal(int terminal) {
  enum { CAPACITY = 1 << 20 };
  static char text[CAPACITY];
  size_t used = 0;
  for (ssize_t got; (got = read(terminal, text + used, CAPACITY - 1 - used)) > 0;) {
    used += (size_t)got;
  }
  text[used] = '\0';
  (void)close(terminal);
  return text;
}

outcome check_status(outcome o, int status) {
  cr_assert(o.status == status, "ended with %d, not %d: %s%s", o.status, status, o.out,
            o.err);
  return o;
}

outcome check_quiet(outcome o, int status) {
  check_status(o, status);
  cr_assert(*o.err == '\0', "%s", o.err);
  return o;
}

static void check_pieces(outcome o, const char *text, const char *const *pieces) {
  for (; *pieces; pieces++) {
    cr_assert(strstr(text, *pieces), "\"%s\" is missing in: %s%s", *pieces, o.out, o.err);
  }
}

outcome check_prints(outcome o, const char *const *pieces) {
  check_pieces(check_status(o, 0), o.out, pieces);
  return o;
}

outcome check_warns(outcome o, const char *const *pieces) {
  check_pieces(check_status(o, 0), o.err, pieces);
  return o;
}

void check_rejected(outcome o, int status, const char *const *pieces) {
  check_status(o, status);
  cr_assert(*o.out == '\0', "printed although rejected: %s", o.out);
  check_pieces(o, o.err, pieces);
  if (status == 3) {
    cr_assert(strchr(o.err, '\n') == o.err + strlen(o.err) - 1, "not one line: %s",
              o.err);
  }
}

void check_svg(const char *name) {
  char *text = slurp(name);
  size_t length = strlen(text);
  while (length && text[length - 1] == '\n') length--;
  cr_assert(strstr(text, "<svg"), "no SVG");
  cr_assert(length > 6 && !strncmp(text + length - 6, "</svg>", 6), "SVG is cut");
  cr_assert(strstr(text, "<path"), "nothing is drawn");
  free(text);
  char line[256];
  snprintf(line, sizeof line,
           "python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' %s",
           name);
  cr_assert(system(line) == 0, "not well-formed XML");
}

int file_holds(const char *name, const char *text) {
  char *all = slurp(name);
  int found = strstr(all, text) != NULL;
  free(all);
  return found;
}

double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  cr_assert(json_is_number(value), "\"%s\" is no number", key);
  return json_number_value(value);
}

const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  cr_assert(text, "\"%s\" is no text", key);
  return text;
}

const char *text_at(const json_t *array, size_t i) {
  const char *text = json_string_value(json_array_get(array, i));
  cr_assert(text, "item %zu is no text", i);
  return text;
}

json_t *item_of(const json_t *object, const char *key, size_t i) {
  return json_array_get(json_object_get(object, key), i);
}

size_t size_of(const json_t *object, const char *key) {
  return json_array_size(json_object_get(object, key));
}
