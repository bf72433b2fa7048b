/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/known_places.h"

bool tsn_known_places_create(tsn_known_places *places, tsn_pool *pool, size_t capacity) {
  *places = (tsn_known_places){
      .known = (tsn_known_place **)tsn_pool_take(pool, capacity, sizeof(void *))};
  return places->known && tsn_names_create(&places->line, pool, capacity);
}

tsn_known_place *tsn_known_places_find(tsn_known_places *places, const char *line) {
  size_t number = places->expected;
  if (number >= places->line.count || strcmp(places->line.name[number], line) != 0) {
    number = tsn_names_find(&places->line, line);
  }
  if (number == TSANOM_NONE) return NULL;
  places->expected = number + 1;
  return places->known[number];
}

tsn_known_place *tsn_known_places_add(tsn_known_places *places, const char *line,
                                      char **copy) {
  tsn_pool *pool = places->line.pool;
  const char *own = tsn_pool_copy(pool, line);
  tsn_known_place *known = tsn_pool_take(pool, 1, sizeof *known);
  *copy = tsn_pool_copy(pool, line);
  if (!own || !known || !*copy) return NULL;
  places->known[places->line.count] = known;
  tsn_names_add(&places->line, own);
  places->expected = places->line.count;
  return known;
}

bool tsn_known_place_name(const tsn_known_places *places, const tsn_place *place) {
  tsn_place *known = &place->known->place;
  if (known->name) return true;
  known->site = tsn_pool_copy(places->line.pool, place->site);
  known->name =
      place->about.call ? tsn_pool_copy(places->line.pool, place->name) : known->site;
  return known->site && known->name;
}
