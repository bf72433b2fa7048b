/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom collect: one run of the ranks that were recorded to directories of several
 * machines. A rank is copied to a directory with another name, verified, and then renamed,
 * so that a run never has a part of a rank:
 *
 *   DIR/rank.3 ──copy──▶ RUN/.rank.3.PID ──verify, rename──▶ RUN/rank.3
 *
 * The run of spawned processes, DIR/spawned.1, is a run with ranks, or is copied as a
 * rank is. Several calls may add to one run at the same time, as on the machines of a
 * job. What a copy contains is read by the library, which verifies each record. A rank
 * that is damaged is copied as it is; both then lack the same. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/base.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "../../rank_file.h"
#include "command.h"
#include "failure.h"
#include "reserve.h"
#include "run_open.h"

/* What was collected. */
typedef struct {
  size_t ranks, size; /* in the run now, and of the job; size 0: not known */
  size_t copied;      /* of the ranks, by this call */
  size_t spawned;     /* copied processes that MPI_Comm_spawn started */
  uint64_t records;   /* of all that was copied */
} collection;
enum { PIECE = 1 << 18 };

/* The signal that ends the command, which leaves no part of a rank. */
static volatile sig_atomic_t ended_by;

static void end_by(int number) {
  ended_by = number;
}

static void handle_signals(void) {
  static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (signal(numbers[i], end_by) == SIG_IGN) (void)signal(numbers[i], SIG_IGN);
  }
}

static int print_path(char path[PATH_MAX], const char *directory, const char *name,
                      failure *why) {
  int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
  return length < PATH_MAX ? 0 : fail(why, "%s: the path is too long", directory);
}

/* The bytes from `begin` up to `end`, or the end of the file; -1: errno has the reason. */
static int copy_range(int from, int to, off_t begin, off_t end) {
  static char piece[PIECE];
  while (begin < end) {
    if (ended_by) {
      errno = EINTR;
      return -1;
    }
    size_t wanted = end - begin < PIECE ? (size_t)(end - begin) : PIECE;
    ssize_t got = pread(from, piece, wanted, begin), put = 0;
    if (got <= 0) return got ? -1 : 0;
    for (ssize_t done = 0; done < got; done += put) {
      put = pwrite(to, piece + done, (size_t)(got - done), begin + done);
      if (put < 0) return -1;
    }
    begin += got;
  }
  return 0;
}

/* All bytes of a file from one descriptor to another; holes stay holes, so that the copy
 * takes the space of the original. -1: errno has the reason. */
static int copy_bytes(int from, int to) {
  struct stat about;
  if (fstat(from, &about) != 0 || ftruncate(to, about.st_size) != 0) return -1;
  for (off_t begin = 0, end; begin < about.st_size; begin = end) {
    off_t data = lseek(from, begin, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return 0; /* only a hole is left */
    if (data < 0) data = begin;
    end = lseek(from, data, SEEK_HOLE);
    if (end < 0) end = about.st_size;
    if (copy_range(from, to, data, end) != 0) return -1;
  }
  return 0;
}

static int copy_file(const char *from, const char *to, failure *why) {
  int source = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (source < 0) return fail_errno(why, from, "read");
  int copy = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (copy < 0) {
    (void)fail_errno(why, to, "create");
    close(source);
    return -1;
  }
  int failed = copy_bytes(source, copy);
  if (failed) (void)fail_errno(why, to, "write");
  if (close(copy) != 0 && !failed) failed = fail_errno(why, to, "write");
  close(source);
  return failed;
}

/* The files of a directory, and those of the `levels` directories in it: a run has no
 * directory deeper than that. */
static int copy_directory(const char *from, const char *to, int levels, failure *why) {
  char inner[PATH_MAX], copy[PATH_MAX];
  struct stat about;
  int failed = 0;
  if (mkdir(to, 0777) != 0) return fail_errno(why, to, "create");
  DIR *directory = opendir(from);
  if (!directory) return fail_errno(why, from, "read");
  for (struct dirent *entry; !failed && (entry = readdir(directory));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    failed = print_path(inner, from, entry->d_name, why) ||
             print_path(copy, to, entry->d_name, why);
    if (failed) break;
    if (lstat(inner, &about) != 0) {
      failed = fail_errno(why, inner, "read");
    } else if (S_ISDIR(about.st_mode)) {
      if (levels) failed = copy_directory(inner, copy, levels - 1, why);
    } else if (S_ISREG(about.st_mode)) {
      failed = copy_file(inner, copy, why);
    }
  }
  closedir(directory);
  return failed;
}

/* What a rank contains. */
static int describe(const char *path, const tsanom_exec *exec, tsanom_runs_info *info,
                    failure *why) {
  tsanom_fault fault;
  tsanom_exec own = exec_with_fault(exec, &fault);
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  tsanom_runs_options_init(&options, sizeof options);
  *info = (tsanom_runs_info){.struct_size = sizeof *info};
  options.salvage = 1;
  tsanom_status status = tsanom_runs_open(path, &options, &own, &run);
  if (status < 0) return fail_fault(why, path, status, &fault);
  (void)tsanom_runs_describe(run, info);
  tsanom_runs_destroy(run);
  return 0;
}

static int is_same(const tsanom_runs_info *a, const tsanom_runs_info *b) {
  return a->start == b->start && a->pid == b->pid && a->state == b->state &&
         a->beats == b->beats && a->events == b->events && a->totals == b->totals &&
         a->skipped == b->skipped && a->places == b->places &&
         a->vital_samples == b->vital_samples;
}

static int remove_one(const char *path, const struct stat *about, int kind,
                      struct FTW *place) {
  (void)about;
  (void)kind;
  (void)place;
  return remove(path);
}

/* The run is in its place already, if it is the same. */
static int compare_runs(const char *from, const char *to, const tsanom_exec *exec,
                        failure *why) {
  tsanom_runs_info own, there;
  if (describe(from, exec, &own, why) || describe(to, exec, &there, why)) return -1;
  if (is_same(&own, &there)) return 0;
  return fail(why,
              "%s: there is another run of this rank; remove it or give another "
              "directory",
              to);
}

/* Copy a run beside its place, and give it its name once it is verified. Another call may
 * have been earlier. */
static int copy_run(const char *from, const char *to, const char *beside,
                    const tsanom_exec *exec, collection *done, failure *why) {
  enum { DESCRIPTORS = 8, LEVELS = 1 /* regions, spmd */ };
  tsanom_runs_info own, copied;
  if (describe(from, exec, &own, why)) return -1;
  int failed =
      copy_directory(from, beside, LEVELS, why) || describe(beside, exec, &copied, why);
  if (!failed && !is_same(&own, &copied)) {
    failed = fail(why,
                  "%s: changed while it was copied; collect it when the program has "
                  "ended",
                  from);
  }
  if (!failed && ended_by) failed = fail(why, "%s: the copy was interrupted", from);
  int renamed = !failed && rename(beside, to) == 0;
  if (!failed && !renamed) {
    failed = errno == ENOTEMPTY || errno == EEXIST ? compare_runs(from, to, exec, why)
                                                   : fail_errno(why, to, "create");
  }
  if (!renamed) (void)nftw(beside, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
  if (!renamed) return failed;
  done->copied++;
  done->records += own.beats + own.events;
  return 0;
}

/* The run of one process, DIRECTORY/NAME. */
static int collect_run(const char *directory, const char *name, const char *output,
                       const tsanom_exec *exec, collection *done, failure *why) {
  char own_name[64], from[PATH_MAX], to[PATH_MAX], beside[PATH_MAX];
  struct stat about;
  (void)snprintf(own_name, sizeof own_name, ".%s.%ld", name, (long)getpid());
  if (print_path(from, directory, name, why) || print_path(to, output, name, why) ||
      print_path(beside, output, own_name, why)) {
    return -1;
  }
  return stat(to, &about) != 0 ? copy_run(from, to, beside, exec, done, why)
                               : compare_runs(from, to, exec, why);
}

static int open_run(const char *output, failure *why) {
  if (mkdir(output, 0777) != 0 && errno != EEXIST) {
    return fail_errno(why, output, "create");
  }
  if (!is_directory(output)) {
    return fail(why, "%s: not a directory; give the path of a run directory", output);
  }
  if (ranks_has_run(output)) {
    return fail(why, "%s: contains the run of a single process", output);
  }
  return 0;
}

/* The ranks of a job. The run is created if there are any. */
static int collect_job(const char *directory, const char *output, const tsanom_exec *exec,
                       collection *done, failure *why) {
  rank_identity job;
  size_t count = 0, size = 0;
  if (ranks_read(directory, &job) != RANKS_SAME ||
      tsanom_runs_ranks(directory, exec, NULL, 0, &count, &size) < 0 || !count) {
    return fail(why, "%s: not a directory with recorded ranks", directory);
  }
  if (open_run(output, why)) return -1;
  int32_t *ranks = allocate(count, sizeof *ranks);
  (void)tsanom_runs_ranks(directory, exec, ranks, count, &count, &size);
  job.rank = ranks[0]; /* distinguishes the machines */
  int joined = ranks_join(output, &job), failed = 0;
  if (joined == RANKS_OTHER) {
    failed = fail(why, "%s: contains the run of another job than %s", output, directory);
  } else if (joined == RANKS_NONE) {
    failed = fail_errno(why, output, "write into");
  }
  for (size_t i = 0; i < count && !failed; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "rank.%d", (int)ranks[i]);
    failed = collect_run(directory, name, output, exec, done, why);
  }
  free(ranks);
  return failed;
}

/* The messages of the first directory that has some. */
static int collect_messages(const char *directory, const char *output, failure *why) {
  char own_name[64], from[PATH_MAX], to[PATH_MAX], beside[PATH_MAX];
  (void)snprintf(own_name, sizeof own_name, ".messages.%ld", (long)getpid());
  if (print_path(from, directory, "messages", why) ||
      print_path(to, output, "messages", why) ||
      print_path(beside, output, own_name, why)) {
    return -1;
  }
  if (access(from, F_OK) != 0 || access(to, F_OK) == 0) return 0;
  int failed = copy_file(from, beside, why);
  if (!failed && rename(beside, to) != 0) failed = fail_errno(why, to, "create");
  if (failed) (void)unlink(beside);
  return failed;
}

/* DIRECTORY/spawned.N, which has several ranks, or is the run of a single process. */
static int collect_group(const char *directory, const char *name, const char *output,
                         const tsanom_exec *exec, collection *done, failure *why) {
  char from[PATH_MAX], to[PATH_MAX];
  collection group = {0};
  if (print_path(from, directory, name, why) || print_path(to, output, name, why)) {
    return -1;
  }
  int failed = ranks_has_run(from)
                   ? collect_run(directory, name, output, exec, &group, why)
                   : collect_job(from, to, exec, &group, why);
  done->spawned += group.copied;
  done->records += group.records;
  return failed ? -1 : 0;
}

static int is_group(const struct dirent *entry) {
  static const char start[] = "spawned.";
  const char *number = entry->d_name + sizeof start - 1;
  return strncmp(entry->d_name, start, sizeof start - 1) == 0 && *number &&
         !number[strspn(number, "0123456789")];
}

static int collect_directory(const char *directory, const char *output,
                             const tsanom_exec *exec, collection *done, failure *why) {
  struct dirent **groups = NULL;
  if (collect_job(directory, output, exec, done, why)) return -1;
  int count = scandir(directory, &groups, is_group, alphasort), failed = 0;
  for (int i = 0; i < count; i++) {
    if (!failed) {
      failed = collect_group(directory, groups[i]->d_name, output, exec, done, why);
    }
    free(groups[i]);
  }
  free(groups);
  return failed;
}

/* Copy the ranks of the directories to the run `output`, which is created, or has ranks
 * of the same job. A rank that is there already is left as it is. Each copy is read, and
 * must contain what the original contains. Processes that MPI_Comm_spawn started, in
 * spawned.N of a directory, are copied to spawned.N of the run. */
static int collect_ranks(char *const *directories, size_t count, const char *output,
                         const tsanom_exec *exec, collection *done, failure *why) {
  *done = (collection){0};
  for (size_t i = 0; i < count; i++) {
    if (collect_directory(directories[i], output, exec, done, why) ||
        collect_messages(directories[i], output, why)) {
      return -1;
    }
  }
  (void)tsanom_runs_ranks(output, exec, NULL, 0, &done->ranks, &done->size);
  return 0;
}

typedef struct {
  shared_options shared;
  const char *output;
} request;

static const option_row options[] = {
    {"output", 'o', "RUN", "Run directory to create, or to add the ranks to",
     TEXT(output)},
};

static void check(struct argp_state *state, void *into) {
  if (!((const request *)into)->output) argp_error(state, "-o RUN is expected");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "-o RUN DIRECTORY...",
    .help =
        "Put the ranks of an MPI program together to one run.\v"
        "Each DIRECTORY is what tsanom record -o DIRECTORY wrote on one machine, on a "
        "disk of its own. The ranks are copied, also those of a program that was killed, "
        "and each copy is verified. Processes that MPI_Comm_spawn started, in "
        "DIRECTORY/spawned.N, are copied to RUN/spawned.N. The machines of a job may add "
        "to one RUN at the same time; ranks that RUN has already are left as they are.",
    .expected = "directories are",
    .least = 1,
    .no_plot = 1,
    .check = check,
};

int command_collect(int argc, char **argv) {
  request r = {0};
  collection done;
  failure why;
  parse_command(&command_line, argc, argv, &r);
  handle_signals();
  if (collect_ranks(r.shared.argument, r.shared.arguments, r.output, &r.shared.exec,
                    &done, &why)) {
    int status = report_failure(&why);
    if (ended_by) (void)signal(ended_by, SIG_DFL);
    if (ended_by) (void)raise(ended_by);
    return status;
  }
  warn_of_missing_ranks(r.output, done.ranks, done.size);
  if (r.shared.json) {
    return print_json(json_pack("{so sI sI sI sI sI}", "run", json_name(r.output),
                                "ranks", (json_int_t)done.ranks, "size",
                                (json_int_t)done.size, "copied", (json_int_t)done.copied,
                                "spawned", (json_int_t)done.spawned, "records",
                                (json_int_t)done.records));
  }
  printf("%s: %zu ranks, of which %zu were copied", r.output, done.ranks, done.copied);
  if (done.spawned) printf(", and %zu processes that they spawned,", done.spawned);
  printf(" with %llu records\n", (unsigned long long)done.records);
  return EXIT_DONE;
}
