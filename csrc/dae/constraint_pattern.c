#include "dae/constraint_pattern.h"
#include <stdlib.h>
#include <string.h>

/* The speeds of one constraint after the other, counted at first, and listed where there is memory for them. */
typedef struct listing {
  const lw_model *m;
  int32_t *mark;  /* [nu] the last constraint that has listed each, plus one */
  int32_t *speed; /* NULL: only counted */
  int32_t constraint, count;
} listing;

static void list_speed(listing *to, int32_t u) {
  if (to->mark[u] == to->constraint + 1) return;
  to->mark[u] = to->constraint + 1;
  if (to->speed) to->speed[to->count] = u;
  to->count++;
}

static void list_path(listing *to, int32_t from, int32_t root) {
  for (int32_t i = from; i != root && i >= 0; i = to->m->link[i].parent)
    for (int32_t c = 0; c < to->m->link[i].speeds; c++) list_speed(to, to->m->link[i].u + c);
}

static void list_loop(listing *to, int32_t l) {
  const lw_loop *loop = &to->m->loop[l];
  if (loop->cluster < 0) return;
  list_path(to, loop->parent, loop->root);
  list_path(to, loop->child, loop->root);
}

static void list_coupling(listing *to, int32_t i) {
  const lw_model *m = to->m;
  const lw_coupling *coupling = &m->coupling[i];
  if (coupling->cluster < 0) return;
  if (coupling->distance >= 0) {
    const lw_distance *distance = &m->distance[coupling->distance];
    for (int end = 0; end < 2; end++) list_path(to, distance->end[end], distance->root);
  }
  for (const lw_term *term = m->term + coupling->first; term < m->term + coupling->first + coupling->terms; term++)
    if (term->u < m->size.nu) list_speed(to, term->u);
    else list_loop(to, m->column[m->cluster[coupling->cluster].first_column + term->column].loop);
}

static void list_all(const lw_constraint_pattern *p, listing *to) {
  for (to->constraint = 0; to->constraint < p->constraints; to->constraint++) {
    p->first[to->constraint] = to->count;
    if (to->constraint < to->m->size.loops) list_loop(to, to->constraint);
    else list_coupling(to, to->constraint - to->m->size.loops);
  }
  p->first[p->constraints] = to->count;
}

/* To choose products: of each speed a list of its entries, and the constraint of each entry. */
typedef struct choice {
  int32_t *newest, *older, *constraint; /* [nu], [entries], [entries]; entries count from 1, 0 ends a list */
  int32_t *taken, *rows; /* of each set that shares products: the last constraint that may not; its rows */
} choice;

static void mark_taken(const lw_constraint_pattern *p, const choice *c, int32_t i) {
  for (int32_t k = p->first[i]; k < p->first[i + 1]; k++)
    for (int32_t other = c->newest[p->speed[k]]; other; other = c->older[other - 1])
      c->taken[p->product[c->constraint[other - 1]]] = i + 1;
}

static void enter_speeds(const lw_constraint_pattern *p, const choice *c, int32_t i) {
  for (int32_t k = p->first[i]; k < p->first[i + 1]; k++) {
    c->older[k] = c->newest[p->speed[k]], c->constraint[k] = i;
    c->newest[p->speed[k]] = k + 1;
  }
}

/* Each constraint joins the first set in which none moves one of its speeds. */
static void choose_products(lw_constraint_pattern *p, const choice *c) {
  int32_t sets = 0;
  for (int32_t i = 0; i < p->constraints; i++) {
    int32_t set = 0;
    mark_taken(p, c, i);
    while (set < sets && c->taken[set] == i + 1) set++;
    sets += set == sets;
    p->product[i] = set;
    c->rows[set] = p->row[i + 1] - p->row[i] > c->rows[set] ? p->row[i + 1] - p->row[i] : c->rows[set];
    enter_speeds(p, c, i);
  }
  for (int32_t set = 0; set < sets; set++) c->taken[set] = p->products, p->products += c->rows[set];
  for (int32_t i = 0; i < p->constraints; i++) p->product[i] = c->taken[p->product[i]];
}

static void count_rows(lw_constraint_pattern *p, const lw_model *m) {
  p->row[0] = 0, p->entry[0] = 0;
  for (int32_t i = 0; i < p->constraints; i++) {
    const int32_t rows = i < m->size.loops ? 6 - m->loop[i].columns : 1;
    p->row[i + 1] = p->row[i] + rows;
    p->entry[i + 1] = p->entry[i] + (size_t)rows * (size_t)(p->first[i + 1] - p->first[i]);
  }
}

static int fill_pattern(lw_constraint_pattern *p, const lw_model *m) {
  const size_t n = (size_t)p->constraints, nu = (size_t)m->size.nu;
  int32_t *marks = calloc(2 * nu + 2 * n + 1, sizeof *marks);
  listing to = {.m = m, .mark = marks};
  if (marks) list_all(p, &to);
  p->speed = malloc(sizeof *p->speed * ((size_t)to.count + 1));
  int32_t *lists = malloc(2 * sizeof *lists * ((size_t)to.count + 1));
  const int has_memory = marks && p->speed && lists;
  if (has_memory) {
    const choice c = {marks + nu, lists, lists + to.count, marks + 2 * nu, marks + 2 * nu + n};
    memset(marks, 0, sizeof *marks * nu);
    list_all(p, &(listing){.m = m, .mark = marks, .speed = p->speed});
    count_rows(p, m);
    choose_products(p, &c);
  }
  free(marks);
  free(lists);
  return has_memory;
}

void lw_free_constraint_pattern(lw_constraint_pattern *p) {
  if (!p) return;
  free(p->speed);
  free(p);
}

lw_constraint_pattern *lw_make_constraint_pattern(const lw_model *m) {
  const size_t n = (size_t)m->size.loops + (size_t)m->couplings;
  lw_constraint_pattern *p = malloc(sizeof *p + sizeof(size_t) * (n + 1) + 3 * sizeof(int32_t) * (n + 1));
  if (!p) return NULL;
  *p = (lw_constraint_pattern){.constraints = (int32_t)n};
  p->entry = (size_t *)(p + 1);
  p->row = (int32_t *)(p->entry + n + 1), p->first = p->row + n + 1, p->product = p->first + n + 1;
  if (fill_pattern(p, m)) return p;
  lw_free_constraint_pattern(p);
  return NULL;
}
