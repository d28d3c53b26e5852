/* Entries of J and the factors of its dependent columns, as the present topology needs them. */
#include "dae/constraints.h"
#include "independent_coordinates/minimal_coordinates.h"
#include <stdlib.h>

/* Entries of dependent speeds, by row and place of the speed; counted at first, and listed where there is memory. */
static size_t list_entries(const lw_minimal *m, int32_t *row, int32_t *column) {
  const lw_constraint_pattern *p = m->pattern;
  size_t n = 0;
  for (int32_t i = 0; i < p->constraints; i++)
    for (int32_t r = p->row[i]; r < p->row[i + 1]; r++)
      for (int32_t k = p->first[i]; k < p->first[i + 1]; k++) {
        const int32_t place = m->place[p->speed[k]];
        if (place >= 0 && row) row[n] = r, column[n] = place;
        n += place >= 0;
      }
  return n;
}

sparse_qr *lw_minimal_new_factors(const lw_minimal *m) {
  const size_t entries = list_entries(m, NULL, NULL);
  int32_t *row = malloc(2 * sizeof *row * (entries + 1));
  if (!row) return NULL;
  list_entries(m, row, row + entries);
  sparse_qr *f = sparse_qr_create(m->rows, m->n_dependent, row, row + entries, entries);
  free(row);
  return f;
}

static void find_entries(const lw_minimal *m) {
  const lw_constraint_pattern *p = m->pattern;
  size_t *entry = m->entry;
  for (int32_t i = 0; i < p->constraints; i++)
    for (int32_t r = p->row[i]; r < p->row[i + 1]; r++)
      for (int32_t k = p->first[i]; k < p->first[i + 1]; k++, entry++) {
        const int32_t place = m->place[p->speed[k]];
        if (place >= 0) *entry = sparse_qr_entry(m->dependents, r, place);
      }
}

void lw_minimal_free_factors(lw_minimal *m) {
  free(m->J);
  free(m->entry);
  sparse_qr_free(m->dependents);
  m->J = NULL, m->entry = NULL, m->dependents = NULL;
}

lw_status lw_minimal_fit(lw_minimal *m) {
  if (m->dependents && m->topologies == m->state->topologies) return LW_OK;
  lw_minimal_free_factors(m);
  const lw_status e = lw_open_constraint_pattern(m->state, &m->pattern);
  if (e) return e;
  const size_t entries = m->pattern->entry[m->pattern->constraints];
  m->J = malloc(sizeof *m->J * (entries + 1));
  m->entry = malloc(sizeof *m->entry * (entries + 1));
  m->dependents = lw_minimal_new_factors(m);
  if (!m->J || !m->entry || !m->dependents) {
    lw_minimal_free_factors(m);
    return lw_fail(m->state, LW_ERROR_MEMORY, "there is no memory for independent coordinates");
  }
  find_entries(m);
  m->topologies = m->state->topologies;
  return LW_OK;
}
