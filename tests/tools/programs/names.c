/* SPDX-License-Identifier: BSD-3-Clause */
/* Three places with one name. Compiled with -DPART=first, second and third, each a
 * function of the same name, and without: 20 iterations of the three. */
#ifdef PART
static __attribute__((noinline)) void work(int *values) {
#pragma omp parallel
#pragma omp atomic
  values[0]++;
}

void PART(int *values);
void PART(int *values) {
  work(values);
}
#else
void first(int *values), second(int *values), third(int *values);

int main(void) {
  int values[1] = {0};
  for (int i = 0; i < 20; i++) {
    first(values);
    second(values);
    third(values);
  }
  return values[0] == 0;
}
#endif
