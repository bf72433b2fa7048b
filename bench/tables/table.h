/* SPDX-License-Identifier: BSD-3-Clause */
/* A table that a program prints: Markdown whose columns line up, so that it can stand
 * in a page, or with --json an array of rows. */
#ifndef TSANOM_BENCH_TABLE_H
#define TSANOM_BENCH_TABLE_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Cell {
  std::string text;
  bool is_number;

  Cell(const char *word) : text(word), is_number(false) {
  }
  Cell(const std::string &word) : text(word), is_number(false) {
  }
  Cell(size_t count) : text(std::to_string(count)), is_number(true) {
  }
  Cell(double value, int decimals) : is_number(true) {
    char shown[64];
    std::snprintf(shown, sizeof shown, "%.*f", decimals, value);
    text = shown;
  }
};

class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {
  }

  void add(std::vector<Cell> row) {
    rows_.push_back(std::move(row));
  }

  void print(bool json) const {
    if (json) {
      print_json();
    } else {
      print_text();
    }
  }

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<Cell>> rows_;

  void print_text() const {
    std::vector<size_t> width;
    for (const std::string &name : head_) width.push_back(name.size());
    for (const std::vector<Cell> &row : rows_) {
      for (size_t k = 0; k < row.size(); k++) {
        width[k] = std::max(width[k], row[k].text.size());
      }
    }
    for (size_t k = 0; k < head_.size(); k++) print_cell(head_[k], (int)width[k], false);
    std::printf("|\n");
    for (size_t k = 0; k < head_.size(); k++) {
      print_cell(std::string(width[k], '-'), (int)width[k], false);
    }
    std::printf("|\n");
    for (const std::vector<Cell> &row : rows_) {
      for (size_t k = 0; k < row.size(); k++) {
        print_cell(row[k].text, (int)width[k], row[k].is_number);
      }
      std::printf("|\n");
    }
  }

  static void print_cell(const std::string &text, int width, bool right) {
    std::printf("| %*s ", right ? width : -width, text.c_str());
  }

  /* The texts are the programs' own: letters, digits and signs that need no escape. */
  void print_json() const {
    std::printf("[\n");
    for (size_t i = 0; i < rows_.size(); i++) {
      const std::vector<Cell> &row = rows_[i];
      for (size_t k = 0; k < row.size(); k++) {
        const char *quote = row[k].is_number ? "" : "\"";
        std::printf("%s\"%s\": %s%s%s", k ? ", " : "  {", head_[k].c_str(), quote,
                    row[k].text.c_str(), quote);
      }
      std::printf(i + 1 < rows_.size() ? "},\n" : "}\n");
    }
    std::printf("]\n");
  }
};

/* Whether --json is the only argument; any other one ends the program. */
inline bool json_wanted(int argc, char **argv, const char *what) {
  if (argc == 1) return false;
  if (argc == 2 && std::strcmp(argv[1], "--json") == 0) return true;
  std::fprintf(stderr, "Usage: %s [--json]\n%s\n", argv[0], what);
  std::exit(2);
}

#endif
