/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of places by addr2line, which is run once for all places of a module: it prints
 * each address, and two lines for each of its frames, the function and FILE:LINE, with
 * question marks for what it does not know. Where functions are inlined, the first frame
 * is that of the innermost:
 *
 *   addr2line -a -i -f -C -e MODULE 0x1a40 0x1b07 ...
 *   0x0000000000001a40
 *   count()                     inlined in
 *   /home/user/graph.h:194
 *   main.omp_fn.0
 *   /home/user/heat.c:12
 *
 * The function is the outermost: a reader knows it, and not the helpers of a library that
 * came from a header. But main() with all that was inlined in it says nothing. The line of
 * a call is that of the innermost frame, unless that is in a header: two calls in one function
 * are two places. So a name depends on nothing but the code.
 *
 * A name is used if the file is still that which was recorded, and the address has a
 * line or lies within a symbol (see module.c).
 *
 * A program of its own, because a reader of debugging information (DWARF) is large, and
 * a crash on a hostile file then ends the child only. It is started without a shell, so
 * that no character of a path has a meaning; its answers are read as text and not
 * trusted to be complete or UTF-8.
 *
 * A place that gets no name this way is "module+0xADDRESS". */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runs/module.h"
#include "runs/places.h"

/* A file of a few bytes can state tables of gigabytes. Debugging information may be
 * compressed, and what is read of it is kept several times. */
static void limit_child(pid_t child, uint64_t stored) {
  enum { SECONDS = 60 };
  rlim_t bytes = ((rlim_t)256 << 20) + 16 * (rlim_t)stored;
  (void)prlimit(child, RLIMIT_AS, &(struct rlimit){bytes, bytes}, NULL);
  (void)prlimit(child, RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS}, NULL);
}

/* Start a program without a shell; what it prints is a stream. NULL: it did not start.
 * The pipe is close-on-exec, so that the child has its output only. */
static FILE *start(char *const arguments[], uint64_t stored, pid_t *child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  (void)close(ends[1]);
  if (!error) limit_child(*child, stored);
  FILE *printed = error ? NULL : fdopen(ends[0], "r");
  if (!printed) (void)close(ends[0]);
  return printed;
}

/* JSON libraries accept nothing but UTF-8, and so do their users; control characters can
 * be commands to a terminal. */
static bool is_plain(const char *text) {
  for (const char *c = text; *c; c++) {
    if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f) return false;
  }
  json_t *value = json_string(text);
  json_decref(value);
  return value != NULL;
}

/* The address of a call's last byte, or of a function's first. A call is known by where
 * it returns to, which may belong to the next line or, behind a call that does not
 * return, to the next function. */
static uint64_t address_of(const tsn_place *place) {
  return place->about.address - (place->about.is_call ? 1 : 0);
}

/* A frame: lines that getline() has read. */
typedef struct {
  char *function, *line;
  size_t function_size, line_size;
} frame;

static void free_frame(frame *f) {
  free(f->function);
  free(f->line);
}

static void swap_lines(char **a, size_t *a_size, char **b, size_t *b_size) {
  char *line = *a;
  size_t size = *a_size;
  *a = *b;
  *a_size = *b_size;
  *b = line;
  *b_size = size;
}

/* FILE:LINE in a file that others include: of C++ also one without an ending. */
static bool is_of_header(const char *line) {
  const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : line;
  const char *dot = strrchr(name, '.');
  return !dot || dot[1] == 'h' || dot[1] == 'H' || strncmp(dot, ".i", 2) == 0 ||
         strncmp(dot, ".tcc", 4) == 0 || strncmp(dot, ".tpp", 4) == 0;
}

static bool is_main(const char *function) {
  return strcmp(function, "main\n") == 0 || strcmp(function, "MAIN__\n") == 0;
}

/* What all frames of an address say, into *site. *next is the line behind them, the next
 * address; false: there is none. */
static bool read_frames(FILE *printed, bool is_call, frame *site, frame *next) {
  bool has_line = false, goes_on;
  size_t count = 0;
  while ((goes_on = getline(&next->function, &next->function_size, printed) > 0) &&
         strncmp(next->function, "0x", 2) != 0) {
    if (getline(&next->line, &next->line_size, printed) <= 0) return false;
    if (!count || !is_main(next->function)) {
      swap_lines(&site->function, &site->function_size, &next->function,
                 &next->function_size);
    }
    if (!has_line) {
      swap_lines(&site->line, &site->line_size, &next->line, &next->line_size);
      has_line = is_call && !is_of_header(site->line);
    }
    count++;
  }
  if (!count && site->function) site->function[0] = '\0';
  return goes_on;
}

/* "function (file.c:12)", or the function alone where there is no line but a symbol that
 * covers the address; NULL: unknown. Cuts the lines. */
static const char *compose(tsn_pool *pool, const tsn_module *module, uint64_t address,
                           char *function, char *line) {
  function[strcspn(function, "\n")] = '\0';
  line[strcspn(line, "\n ")] = '\0';
  if (function[0] == '?' || function[0] == '\0') return NULL;
  const char *file = strrchr(line, '/');
  file = file ? file + 1 : line;
  if (!is_plain(function) || !is_plain(file)) return NULL;
  if (!strchr(file, '?')) return tsn_pool_print(pool, "%s (%s)", function, file);
  return tsn_module_covers(module, address) ? tsn_pool_copy(pool, function) : NULL;
}

/* The places of one module that addr2line is asked for, in the order of their numbers.
 * The answers are matched by this order. */
static bool is_unnamed(const tsn_place *place, const tsn_place *wanted) {
  return !place->name && tsn_places_share_module(place, wanted);
}

/* Places for which an answer is missing stay without a name. */
static void read_names(tsn_places *places, const tsn_place *wanted,
                       const tsn_module *module, FILE *printed) {
  frame f = {.line = NULL}, next = {.line = NULL};
  bool goes_on = getline(&next.function, &next.function_size, printed) > 0;
  for (size_t i = 0; i < places->count && goes_on; i++) {
    tsn_place *place = tsn_places_at(places, i);
    if (!is_unnamed(place, wanted)) continue;
    goes_on = read_frames(printed, place->about.is_call, &f, &next);
    if (!f.function || !f.line) continue;
    const char *site =
        compose(&places->pool, module, address_of(place), f.function, f.line);
    if (site) (void)tsn_places_set_name(places, place, site);
  }
  free_frame(&f);
  free_frame(&next);
}

/* Name all places of a module, as far as addr2line knows them. At most 8192 addresses of
 * 20 bytes: below the limit of arguments. */
static void run_addr2line(tsn_places *places, const tsn_place *wanted,
                          const tsn_module *module) {
  enum { OPTIONS = 5, ADDRESS = 20 };
  char tool[] = "addr2line", frames[] = "-aif", demangle[] = "-C", of[] = "-e";
  char **argument = calloc(OPTIONS + places->count + 1, sizeof *argument);
  char *address = calloc(places->count, ADDRESS), *file = strdup(wanted->about.module);
  if (argument && address && file) {
    char *const first[OPTIONS] = {tool, frames, demangle, of, file};
    memcpy(argument, first, sizeof first);
    size_t used = OPTIONS;
    for (size_t i = 0; i < places->count; i++) {
      const tsn_place *place = tsn_places_at(places, i);
      if (!is_unnamed(place, wanted)) continue;
      char *text = address + i * ADDRESS;
      (void)snprintf(text, ADDRESS, "0x%" PRIx64, address_of(place));
      argument[used++] = text;
    }
    pid_t child = 0;
    FILE *printed = start(argument, module->source.stored, &child);
    if (printed) {
      read_names(places, wanted, module, printed);
      (void)fclose(printed);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  free(file);
  free(address);
  free(argument);
}

/* addr2line opens the file by its path, so its identity is verified first. */
static void look_up(tsn_places *places, const tsn_place *wanted) {
  tsn_module module;
  if (!tsn_module_open(&module, wanted->about.module)) return;
  if (tsn_module_is(&module, wanted->identity)) run_addr2line(places, wanted, &module);
  tsn_module_close(&module);
}

/* "module+0xADDRESS", without the directories of the module. */
static const char *plain_name(tsn_pool *pool, const tsn_place *place) {
  const char *base = strrchr(place->about.module, '/');
  base = base ? base + 1 : place->about.module;
  if (!is_plain(base)) base = "?";
  return tsn_pool_print(pool, "%s+0x%" PRIx64, base, address_of(place));
}

bool tsn_places_set_name(tsn_places *places, tsn_place *place, const char *site) {
  place->site = site;
  place->name = place->about.call
                    ? tsn_pool_print(&places->pool, "%s in %s", place->about.call, site)
                    : site;
  return place->name != NULL;
}

/* Names all places of the module, so that the next of them costs nothing. *wanted stays
 * where it is: nothing is added to the array here. */
const char *tsn_places_name(tsn_places *places, size_t index, bool symbols) {
  const tsn_place *wanted = tsn_places_at(places, index);
  if (wanted->name) return wanted->name;
  if (symbols) look_up(places, wanted);
  for (size_t i = 0; i < places->count; i++) {
    tsn_place *place = tsn_places_at(places, i);
    if (!is_unnamed(place, wanted)) continue;
    const char *site = plain_name(&places->pool, place);
    if (!site || !tsn_places_set_name(places, place, site)) return NULL;
  }
  return wanted->name;
}
