/* Takes a choice of independent coordinates and speeds, which Python makes (model/independent_coordinates.py): checks it,
 * and allocates the workspace to solve for the dependent ones. */
#include "dae/constraints.h"
#include "independent_coordinates/minimal_coordinates.h"
#include <stdlib.h>

/* Ascending indices into `of` numbers. */
static int are_indices(const uint32_t *index, int32_t n, int32_t of) {
  if (n < 0 || n > of) return 0;
  for (int32_t i = 0; i < n; i++)
    if (index[i] >= (uint32_t)of || (i && index[i] <= index[i - 1])) return 0;
  return 1;
}

static const char *name_of(const lw_state *s, const lw_link *link) { return s->model->joint_name[link->joint]; }

/* Speeds go with their coordinates, and a quaternion is one thing: its joint has all of its coordinates and speeds among
 * the independent ones; or none of its coordinates, and any of its speeds. What these move is then no state, and
 * derivatives alone are taken along them. */
static lw_status check_joint(const lw_minimal *m, const lw_link *link) {
  const lw_joint_size *size = &lw_joint_sizes[link->type];
  const unsigned char *q = m->q_is_free + link->q, *u = m->u_is_free + link->u;
  const int whole = size->q != size->u;
  for (int32_t k = 0; k < size->q; k++)
    if (whole && q[k] != q[0])
      return lw_fail(m->state, LW_ERROR_USAGE,
                     "the coordinates of joint '%s' turn by a quaternion: all of them are independent or none",
                     name_of(m->state, link));
  for (int32_t k = 0; k < size->u; k++)
    if (whole ? q[0] && !u[k] : u[k] != q[k])
      return lw_fail(m->state, LW_ERROR_USAGE,
                     "of joint '%s' a coordinate is independent without its speed, or a speed without its coordinate",
                     name_of(m->state, link));
  return LW_OK;
}

static lw_status check_choice(lw_minimal *m, const uint32_t *q, const uint32_t *u) {
  lw_state *s = m->state;
  if (!are_indices(q, m->n_q, m->nq) || !are_indices(u, m->n_u, m->nu))
    return lw_fail(s, LW_ERROR_USAGE, "independent coordinates and speeds are ascending indices below %d and %d", m->nq,
                   m->nu);
  for (int32_t i = 0; i < m->n_q; i++) m->q[i] = (int32_t)q[i], m->q_is_free[q[i]] = 1;
  for (int32_t i = 0; i < m->n_u; i++) m->u[i] = (int32_t)u[i], m->u_is_free[u[i]] = 1;
  for (int32_t i = 0; i < s->model->size.bodies; i++) {
    const lw_status e = check_joint(m, &s->model->link[i]);
    if (e) return e;
  }
  for (int32_t k = 0; k < m->nu; k++)
    if (m->u_is_free[k]) m->place[k] = -1;
    else m->place[k] = m->n_dependent, m->dependent[m->n_dependent++] = k;
  for (int32_t i = 0; i < s->model->size.bodies; i++)
    for (int32_t c = 0; c < s->model->link[i].speeds; c++) m->link[s->model->link[i].u + c] = i;
  return LW_OK;
}

/* One allocation each for integers, flags and doubles. */
static int allocate_model(lw_minimal *m) {
  const size_t rows = (size_t)m->rows, nu = (size_t)m->nu, nq = (size_t)m->nq, q = (size_t)m->n_q, u = (size_t)m->n_u;
  m->q = calloc(q + u + 3 * nu + 1, sizeof *m->q);
  m->q_is_free = calloc(nq + nu + 1, 1);
  m->phi = calloc(6 * rows + 3 * nu + q + 3 * nq + 1, sizeof *m->phi);
  if (!m->q || !m->q_is_free || !m->phi) return 0;
  m->u = m->q + q, m->dependent = m->u + u, m->place = m->dependent + nu, m->link = m->place + nu;
  m->u_is_free = m->q_is_free + nq;
  m->rate = m->phi + rows, m->first_phi = m->rate + rows, m->rhs = m->first_phi + rows, m->length = m->rhs + rows;
  m->scale = m->length + rows;
  m->step = m->scale + rows;
  m->size2 = m->step + nu;
  m->initial_q = m->size2 + nu;
  m->saved_q = m->initial_q + q;
  m->start_q = m->saved_q + nq;
  m->saved_states = m->start_q + nq;
  return 1;
}

/* ---- of a topology ---- */

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

static void free_topology(lw_minimal *m) {
  free(m->J);
  free(m->entry);
  sparse_qr_free(m->dependents);
  m->J = NULL, m->entry = NULL, m->dependents = NULL;
}

lw_status lw_minimal_fit(lw_minimal *m) {
  if (m->dependents && m->topologies == m->state->topologies) return LW_OK;
  free_topology(m);
  const lw_status e = lw_open_constraint_pattern(m->state, &m->pattern);
  if (e) return e;
  const size_t entries = m->pattern->entry[m->pattern->constraints];
  m->J = malloc(sizeof *m->J * (entries + 1));
  m->entry = malloc(sizeof *m->entry * (entries + 1));
  m->dependents = lw_minimal_new_factors(m);
  if (!m->J || !m->entry || !m->dependents) {
    free_topology(m);
    return lw_fail(m->state, LW_ERROR_MEMORY, "there is no memory for independent coordinates");
  }
  find_entries(m);
  m->topologies = m->state->topologies;
  return LW_OK;
}

lw_status lw_minimal_create(lw_state *s, const uint32_t *q, int32_t n_q, const uint32_t *u, int32_t n_u,
                            lw_minimal **minimal) {
  const lw_sizes *size = &s->model->size;
  *minimal = NULL;
  lw_minimal *m = calloc(1, sizeof *m);
  if (!m) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for independent coordinates");
  *m = (lw_minimal){.state = s, .n_q = n_q, .n_u = n_u, .nq = size->nq, .nu = size->nu, .factored = -1};
  m->rows = lw_constraint_rows(s->model);
  lw_status e =
      n_q < 0 || n_q > m->nq || n_u < 0 || n_u > m->nu
          ? lw_fail(s, LW_ERROR_USAGE, "there are %d coordinates and %d speeds to be chosen from", m->nq, m->nu)
      : allocate_model(m) ? check_choice(m, q, u)
                          : lw_fail(s, LW_ERROR_MEMORY, "there is no memory for independent coordinates");
  if (!e) e = lw_minimal_fit(m);
  if (e) lw_minimal_free(m);
  else *minimal = m;
  return e;
}

void lw_minimal_free(lw_minimal *m) {
  if (!m) return;
  lw_free_watch(m->watch);
  free(m->q);
  free(m->q_is_free);
  free(m->phi);
  free_topology(m);
  free(m);
}
