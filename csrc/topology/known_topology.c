/* Joints with their bodies and the tree that they form, what couples them, and the methods that were asked for: all
 * that a topology depends on. Numbers and names stay in the bytes of the model. */
#include "topology/known_topology.h"
#include "load/kept_variants.h"
#include <stdlib.h>

static int32_t body_of(const lw_model *m, int32_t link) { return link < 0 ? GROUND : m->link[link].body; }

/* Joints that close loops stay cut, so that the tree is the model's own. */
static void describe_joints(const lw_model *m, lw_builder *b) {
  for (int32_t k = 0; k < m->size.bodies; k++) b->body[k].name = m->body_name[k], b->body[k].mass = 1.0;
  for (int32_t j = 0; j < m->size.joints; j++) {
    const lw_joint *joint = &m->joint[j];
    joint_part *to = &b->joint[j];
    *to = (joint_part){.name = m->joint_name[j], .type = joint->type, .cut = joint->link < 0, .method = -1};
    if (joint->link < 0) {
      to->parent = body_of(m, m->loop[joint->loop].parent), to->child = body_of(m, m->loop[joint->loop].child);
      continue;
    }
    const lw_link *link = &m->link[joint->link];
    const int32_t inner = body_of(m, link->parent);
    to->parent = link->reversed ? link->body : inner, to->child = link->reversed ? inner : link->body;
  }
}

/* The terms stand in the order of their couplings; those of the locks are the last. */
static void describe_couplings(const lw_model *m, lw_builder *b, plan *p, int32_t *joint_of) {
  for (int32_t j = 0; j < m->size.joints; j++)
    for (int32_t k = 0; k < lw_joint_sizes[m->joint[j].type].u; k++) joint_of[m->joint[j].u + k] = j;
  for (int32_t k = 0; k < b->couplings; k++) p->first_term[k] = m->coupling[k].first;
  p->first_term[b->couplings] = b->terms;
  for (int32_t k = 0; k < b->terms; k++) p->term_order[k] = k, b->term[k].joint = joint_of[m->term[k].u];
  for (int32_t k = 0; k < m->size.locks; k++) p->variants.lock[k][0] = joint_of[m->coupling[b->couplings + k].lock];
  for (int32_t k = 0; k < m->size.distances; k++)
    for (int end = 0; end < 2; end++) b->distance[k].body[end] = body_of(m, m->distance[k].end[end]);
}

static lw_method_choice method_of(const lw_model *m) {
  switch ((lw_method)m->method) {
    case LW_MULTIPLIERS_JOINT: return LW_METHOD_MULTIPLIERS;
    case LW_MULTIPLIERS_CENTROID: return LW_METHOD_MULTIPLIERS_CENTROID;
    case LW_MULTIPLIERS_ORIGIN: return LW_METHOD_MULTIPLIERS_ORIGIN;
    case LW_DCA: return LW_METHOD_DCA;
    case LW_BY_CLUSTERS:
    case LW_METHODS: break;
  }
  return LW_METHOD_AUTO;
}

static void describe_methods(const lw_model *m, lw_builder *b) {
  b->method = method_of(m);
  for (int32_t k = 0; k < m->requests; k++) {
    const lw_method_request *asked = &m->request[k];
    if (asked->joint >= 0) b->joint[asked->joint].method = asked->method;
    else if (m->method == LW_BY_CLUSTERS) b->method = (lw_method_choice)asked->method;
  }
}

static void *list_of(int32_t count, size_t size) { return calloc((size_t)count + 1, size); }

static int allocate(const lw_model *m, lw_builder *b, plan *p) {
  b->bodies = m->size.bodies, b->joints = m->size.joints, b->distances = m->size.distances;
  b->couplings = m->couplings - m->size.locks - m->size.distances, b->terms = m->terms - m->size.locks;
  b->body = list_of(b->bodies, sizeof *b->body), b->joint = list_of(b->joints, sizeof *b->joint);
  b->distance = list_of(b->distances, sizeof *b->distance), b->term = list_of(b->terms, sizeof *b->term);
  p->memory = list_of(b->terms + b->couplings + 1, sizeof *p->memory);
  p->variants = (variants){.lock = list_of(m->size.locks, sizeof *p->variants.lock),
                           .locks = m->size.locks,
                           .removable_joint = list_of(m->removable_joints, sizeof(int32_t)),
                           .removable_joints = m->removable_joints};
  p->term_order = p->memory, p->first_term = p->memory + b->terms;
  return b->body && b->joint && b->distance && b->term && p->memory && p->variants.lock && p->variants.removable_joint;
}

lw_status lw_describe_topology(const lw_model *m, lw_builder *b, plan *p) {
  *b = (lw_builder){.inexact = -1};
  *p = (plan){.builder = b, .known = m, .known_bytes = m->variants->bytes};
  int32_t *joint_of = list_of(m->size.nu + m->size.nu_cut, sizeof *joint_of);
  const int ready = allocate(m, b, p) && joint_of;
  if (ready) {
    describe_joints(m, b);
    describe_couplings(m, b, p, joint_of);
    describe_methods(m, b);
    for (int32_t k = 0; k < m->removable_joints; k++) p->variants.removable_joint[k] = m->removable_joint[k];
  }
  free(joint_of);
  return ready ? lw_span(b, &p->tree) : lw_no_memory(b);
}

void lw_free_description(lw_builder *b, plan *p) {
  lw_free_plan(p);
  free(b->body);
  free(b->joint);
  free(b->distance);
  free(b->term);
}
