/* A chain of spherical joints and its memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"

static bool all_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool is_valid(const lw_chain_bodies *b) {
  if (b->n < 1 || b->n > INT32_MAX / LW_UNKNOWNS) return false;
  const size_t n = (size_t)b->n;
  for (size_t i = 0; i < n; i++)
    if (!(b->mass[i] > 0.0)) return false;
  return all_finite(b->mass, n) && all_finite(b->inertia, 9 * n) && all_finite(b->inner, 3 * n) &&
         all_finite(b->centre, 3 * n) && all_finite(b->gravity, 3) && all_finite(b->support, 3);
}

static bool allocate(lw_chain *chain, bool dense) {
  const size_t n = (size_t)chain->n, rows = 3 * n;
  chain->bodies = calloc(n, sizeof *chain->bodies);
  chain->links = calloc(n, sizeof *chain->links);
  chain->corrections = calloc(n, sizeof *chain->corrections);
  chain->tau = calloc(3 * (n + 1), sizeof *chain->tau);
  if (!chain->bodies || !chain->links || !chain->corrections || !chain->tau) return false;
  if (!dense) return true;
  if (rows > SIZE_MAX / sizeof(double) / rows) return false;
  chain->matrix = calloc(rows * rows, sizeof *chain->matrix);
  chain->scale = calloc(rows, sizeof *chain->scale);
  chain->rhs = calloc(rows, sizeof *chain->rhs);
  chain->order = calloc(rows, sizeof *chain->order);
  return chain->matrix && chain->scale && chain->rhs && chain->order;
}

static void copy_bodies(lw_chain *chain, const lw_chain_bodies *description) {
  memcpy(chain->gravity, description->gravity, sizeof chain->gravity);
  memcpy(chain->support, description->support, sizeof chain->support);
  for (int32_t i = 0; i < chain->n; i++) {
    lw_chain_body *body = &chain->bodies[i];
    body->mass = description->mass[i];
    memcpy(body->inertia, description->inertia + 9 * i, sizeof body->inertia);
    memcpy(body->a, description->inner + 3 * i, sizeof body->a);
    memcpy(body->r, description->centre + 3 * i, sizeof body->r);
    for (int k = 0; k < 3; k++) body->c[k] = body->a[k] - body->r[k];
  }
}

lw_status lw_chain_create(const lw_chain_bodies *bodies, lw_chain **chain) {
  *chain = NULL;
  if (!is_valid(bodies)) return LW_ERROR_PARAMETER;
  lw_chain *created = calloc(1, sizeof *created);
  if (!created) return LW_ERROR_MEMORY;
  created->n = bodies->n;
  if (!allocate(created, bodies->dense != 0)) {
    lw_chain_free(created);
    return LW_ERROR_MEMORY;
  }
  copy_bodies(created, bodies);
  *chain = created;
  return LW_OK;
}

void lw_chain_free(lw_chain *chain) {
  if (!chain) return;
  void *const owned[] = {chain->bodies, chain->links, chain->corrections, chain->tau,
                         chain->matrix, chain->scale, chain->rhs,         chain->order};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(chain);
}
