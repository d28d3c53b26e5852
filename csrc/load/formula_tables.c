/* Model reader: formulas. Operands are values before their instruction, numbers and quantities of its formula, and results
 * values of it, so that no program can loop or lead out of the block. Quantities are numbers of fields by name, which have
 * values when their formula is evaluated: forces read what is known before them, outputs all but later outputs,
 * states all but rates of states, and couplings their coordinates and time. */
#include "load/reader.h"
#include <math.h>
#include <string.h>

static int32_t results_of(const lw_model *m, int32_t formula) {
  const int32_t force = m->first_force[LW_FIRST_BY_FORMULA] + formula;
  return force < m->size.forces ? lw_force_types[lw_type_of_force(m, force)].results : 1;
}

static int may_have_inputs(const lw_model *m, int32_t formula) {
  return formula < lw_formulas_of_forces(m) || lw_within(formula, lw_first_of_states(m), lw_first_of_couplings(m));
}

/* Each begins where the one before ends. */
lw_status lw_read_formula(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_formula_rows *f = &m->formula[at->row], before = at->row ? f[-1] : (lw_formula_rows){0};
  *f = (lw_formula_rows){v[0],
                         v[1],
                         v[2],
                         v[3],
                         v[4],
                         v[5],
                         before.first_number + before.numbers,
                         before.first_input + before.inputs,
                         before.first_quantity + before.quantities,
                         before.first_instruction + before.instructions,
                         before.first_result + before.results,
                         before.first_table + before.tables,
                         0,
                         0};
  const int32_t left[] = {m->size.formula_numbers - f->first_number,      m->size.formula_inputs - f->first_input,
                          m->size.formula_quantities - f->first_quantity, m->instructions - f->first_instruction,
                          m->formula_results - f->first_result,           m->size.lookup_tables - f->first_table};
  for (int k = 0; k < 6; k++)
    if (!lw_within(v[k], 0, left[k] + 1)) return lw_row_error(r, "formula", at->row);
  if (v[3] < 1 || v[4] != results_of(m, at->row) || (v[1] && !may_have_inputs(m, at->row)))
    return lw_row_error(r, "formula", at->row);
  if (v[3] > m->size.formula_values) m->size.formula_values = v[3];
  return LW_OK;
}

static int watches_variable(const lw_transition *x) {
  return x->trigger == LW_ZERO_CROSSING && x->quantity == LW_VARIABLE;
}

static int32_t watched_variables(const lw_model *m) {
  int32_t count = 0;
  for (int32_t i = 0; i < m->size.transitions; i++) count += watches_variable(&m->transition[i]);
  return count;
}

/* Together the formulas have what the model has, and the rest of the quantities is what transitions watch. */
lw_status lw_check_formulas(reader *r, lw_model *m, const table_cursor *at) {
  const lw_formula_rows last = at->row ? m->formula[at->row - 1] : (lw_formula_rows){0};
  const int32_t first = lw_first_of_couplings(m), others = lw_formulas_of_forces(m) + m->size.formula_outputs;
  const int32_t numbers = m->size.formula_numbers - m->size.coupling_numbers;
  if (first != others + m->size.formula_states ||
      (first < at->row ? m->formula[first].first_number != numbers : m->size.coupling_numbers != 0) ||
      last.first_number + last.numbers != m->size.formula_numbers ||
      last.first_input + last.inputs != m->size.formula_inputs ||
      last.first_quantity + last.quantities + watched_variables(m) != m->size.formula_quantities ||
      last.first_instruction + last.instructions != m->instructions ||
      last.first_result + last.results != m->formula_results || last.first_table + last.tables != m->size.lookup_tables)
    return lw_format_error(r, "the model's formulas and its counts contradict each other");
  return LW_OK;
}

lw_status lw_read_coupling_formula(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  if (v[0] >= m->couplings - m->size.locks - m->size.distances || (at->row && v[0] <= m->coupling_formula[at->row - 1]))
    return lw_row_error(r, "coupling_formula", at->row);
  m->coupling_formula[at->row] = v[0];
  m->coupling[v[0]].formula = lw_first_of_couplings(m) + at->row;
  return LW_OK;
}

/* Checked once its name is known. */
lw_status lw_read_formula_quantity(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  (void)r;
  m->formula_quantity[at->row].index = v[0];
  return LW_OK;
}

lw_status lw_read_instruction(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  while (at->row >= m->formula[at->last].first_instruction + m->formula[at->last].instructions) at->last++;
  const lw_formula_rows *f = &m->formula[at->last];
  const lw_instruction given = {v[0], {v[1], v[2], v[3]}};
  if (!lw_within(v[0], 0, LW_OPERATIONS) ||
      lw_wrong_operand(&given, f->numbers, f->quantities, f->tables, at->row - f->first_instruction) >= 0 ||
      (at->last >= lw_first_of_couplings(m) && !lw_is_smooth(v[0])))
    return lw_row_error(r, "instruction", at->row);
  m->instruction[at->row] = given;
  return LW_OK;
}

lw_status lw_read_formula_result(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  while (at->row >= m->formula[at->last].first_result + m->formula[at->last].results) at->last++;
  if (!lw_within(v[0], 0, m->formula[at->last].instructions)) return lw_row_error(r, "formula_result", at->row);
  m->formula_result[at->row] = v[0];
  return LW_OK;
}

/* ---- lookup tables ---- */

/* `next`: knots so far. */
lw_status lw_read_lookup_table(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_lookup *t = &m->lookup_table[at->row];
  const lw_lookup *before = at->row ? t - 1 : NULL;
  while (at->row >= m->formula[at->last].first_table + m->formula[at->last].tables) at->last++;
  const int32_t most = m->lookup_knots - at->next;
  if (!lw_within(v[0], 2, most + 1) || !(v[1] == 0 || lw_within(v[1], 2, most - v[0] + 1)) || (v[1] == 0 && v[3]) ||
      !lw_within(v[4], 0, LW_INTERPOLATIONS) || !lw_within(v[5], 0, LW_OUTSIDES) ||
      (at->last >= lw_first_of_couplings(m) && v[4] == LW_LOOKUP_LINEAR))
    return lw_row_error(r, "lookup_table", at->row);
  *t = (lw_lookup){.knots = {v[0], v[1]},
                   .periodic = {v[2], v[3]},
                   .rows = {v[0] - v[2], v[1] ? v[1] - v[3] : 1},
                   .arguments = v[1] ? 2 : 1,
                   .interpolation = v[4],
                   .outside = v[5],
                   .formula = at->last,
                   .first_value = before ? before->first_value + before->rows[0] * before->rows[1] : 0,
                   .first_slope = m->size.lookup_slopes,
                   .knot = {m->lookup_knot + at->next, m->lookup_knot + at->next + v[0]}};
  const int64_t values = (int64_t)t->rows[0] * t->rows[1];
  if (values > m->size.lookup_values - t->first_value) return lw_row_error(r, "lookup_table", at->row);
  at->next += v[0] + v[1];
  t->region = m->size.lookup_regions;
  if (lw_has_regions(t)) m->size.lookup_regions += t->knots[0] - 1;
  if (t->interpolation == LW_LOOKUP_MONOTONE) m->size.lookup_slopes += (int32_t)values * (t->arguments == 1 ? 1 : 3);
  return LW_OK;
}

/* How many values tables of couplings have. */
static int32_t values_of_couplings(const lw_model *m) {
  int32_t k = m->size.lookup_tables, first = m->size.lookup_values;
  while (k > 0 && m->lookup_table[k - 1].formula >= lw_first_of_couplings(m)) first = m->lookup_table[--k].first_value;
  return m->size.lookup_values - first;
}

/* Together they have what the model has. */
lw_status lw_check_lookup_tables(reader *r, lw_model *m, const table_cursor *at) {
  const lw_lookup *last = m->lookup_table + at->row - 1;
  const int32_t values = at->row ? last->first_value + last->rows[0] * last->rows[1] : 0;
  if (at->next != m->lookup_knots || values != m->size.lookup_values ||
      values_of_couplings(m) != m->size.coupling_values)
    return lw_format_error(r, "the model's lookup tables and its counts contradict each other");
  return LW_OK;
}

lw_status lw_read_lookup_knot(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  memcpy(&m->lookup_knot[at->row], v, sizeof(double));
  return isfinite(m->lookup_knot[at->row]) ? LW_OK : lw_row_error(r, "lookup_knot", at->row);
}

/* The abscissae of each argument increase. */
lw_status lw_check_lookup_knots(reader *r, lw_model *m, const table_cursor *at) {
  (void)at;
  for (int32_t k = 0; k < m->size.lookup_tables; k++)
    for (int axis = 0; axis < m->lookup_table[k].arguments; axis++)
      for (int32_t i = 1; i < m->lookup_table[k].knots[axis]; i++)
        if (!(m->lookup_table[k].knot[axis][i] > m->lookup_table[k].knot[axis][i - 1]))
          return lw_row_error(r, "lookup_table", k);
  return LW_OK;
}

/* ---- quantities ---- */

static int is_of_field(const lw_model *m, int32_t offset, const char *name) {
  const lw_field *f = &m->field[lw_model_find(m, LW_KIND_FIELD, name)];
  return lw_within(offset, f->first, f->first + f->rows * f->columns);
}

/* Coordinates and speeds of a cut joint that a force reads have to be found before it. */
static void mark_read(lw_model *m, int of_q, int32_t index) {
  for (int32_t l = 0; l < m->size.loops; l++) {
    lw_loop *loop = &m->loop[l];
    if (of_q ? lw_within(index, loop->q, loop->q + loop->coordinates)
             : lw_within(index, loop->u, loop->u + loop->columns))
      loop->coupled = LW_COUPLED;
  }
}

/* Of the force itself: its length where it has one, and its rate; or how its frames move. */
static int is_own_motion(const lw_model *m, int32_t force, int32_t offset) {
  const int32_t type = lw_type_of_force(m, force), row = force - m->first_force[type];
  const lw_offsets *at = &m->at;
  if (type == LW_FORCE_LINE_FORMULA)
    return offset == at->line_formula_length + row || offset == at->line_formula_rate + row;
  if (type == LW_FORCE_FRAME_FORMULA)
    return lw_within(offset - 3 * row, at->frame_formula_displacement, at->frame_formula_displacement + 3) ||
           lw_within(offset - 3 * row, at->frame_formula_rotation, at->frame_formula_rotation + 3) ||
           lw_within(offset - 3 * row, at->frame_formula_velocity, at->frame_formula_velocity + 3) ||
           lw_within(offset - 3 * row, at->frame_formula_angular_velocity, at->frame_formula_angular_velocity + 3);
  return type == LW_FORCE_JOINT_FORMULA && (offset == at->joint_formula_rate + row ||
                                            (m->force[force].has_length && offset == at->joint_formula_length + row));
}

static int is_of_point(const lw_model *m, int32_t offset) {
  return is_of_field(m, offset, "point_position") || is_of_field(m, offset, "point_velocity") ||
         is_of_field(m, offset, "point_axis") || is_of_field(m, offset, "measure_value") ||
         is_of_field(m, offset, "measure_rate");
}

/* What is known before forces act. */
static int is_known_to_force(lw_model *m, const lw_formula_rows *f, int32_t offset) {
  const int32_t own = m->at.formula_input + f->first_input;
  if (is_of_field(m, offset, "q_cut")) mark_read(m, 1, m->size.nq + offset - m->at.q_cut);
  else if (is_of_field(m, offset, "u_cut")) mark_read(m, 0, m->size.nu + offset - m->at.u_cut);
  else if (is_of_field(m, offset, "time")) m->forces_know_time = 1;
  else if (is_of_point(m, offset)) m->forces_read_points = 1;
  else
    return is_of_field(m, offset, "q") || is_of_field(m, offset, "u") || is_of_field(m, offset, "element_state") ||
           lw_within(offset, own, own + f->inputs) ||
           is_own_motion(m, m->first_force[LW_FIRST_BY_FORMULA] + (int32_t)(f - m->formula), offset);
  return 1;
}

/* What an output or a state reads by way of outputs as well. */
static void note_reading(const lw_model *m, lw_formula_rows *f, int32_t offset) {
  f->reads_rates |= is_of_field(m, offset, "element_rate");
  f->reads_time |= is_of_field(m, offset, "time");
  if (!is_of_field(m, offset, "formula_output")) return;
  const lw_formula_rows *output = &m->formula[lw_formulas_of_forces(m) + offset - m->at.formula_output];
  f->reads_rates |= output->reads_rates;
  f->reads_time |= output->reads_time;
}

/* Of outputs those before it. */
static int is_known_to_output(const lw_model *m, int32_t output, int32_t offset) {
  if (is_of_field(m, offset, "formula_output") && offset >= m->at.formula_output + output) return 0;
  note_reading(m, &m->formula[lw_formulas_of_forces(m) + output], offset);
  return 1;
}

static lw_stage stage_of(const lw_model *m, int32_t offset) {
  for (const lw_field *f = m->field; f < m->field + LW_FIELD_COUNT; f++)
    if (lw_within(offset, f->first, f->first + f->rows * f->columns)) return f->stage;
  return LW_STAGE_NONE;
}

/* Rates of states follow each other in no order, so that none reads another. */
static int is_known_to_state(lw_model *m, lw_formula_rows *f, int32_t offset) {
  note_reading(m, f, offset);
  m->forces_know_time |= f->reads_time;
  if (is_of_field(m, offset, "q_cut")) mark_read(m, 1, m->size.nq + offset - m->at.q_cut);
  else m->rates_read_outputs |= stage_of(m, offset) == LW_STAGE_OUTPUTS;
  return !f->reads_rates;
}

/* Of couplings the coordinates of their terms, and time. */
static int is_known_to_coupling(lw_model *m, lw_coupling *coupling, int32_t offset) {
  int is_read = 0;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
    if (offset == lw_offset_of_coordinate(m, m->term[t].u)) is_read = m->term[t].in_formula = 1;
  return is_read || (offset == m->at.time && (coupling->reads_time = 1));
}

static int is_known(lw_model *m, int32_t formula, int32_t offset) {
  const int32_t output = formula - lw_formulas_of_forces(m), coupling = formula - lw_first_of_couplings(m);
  if (lw_within(formula, lw_first_of_states(m), lw_first_of_couplings(m)))
    return is_known_to_state(m, &m->formula[formula], offset);
  if (coupling >= 0) return is_known_to_coupling(m, &m->coupling[m->coupling_formula[coupling]], offset);
  return output < 0 ? is_known_to_force(m, &m->formula[formula], offset) : is_known_to_output(m, output, offset);
}

#define LONGEST_FIELD 40

/* The field of a name, and its owner; -1: it has no such number. */
static int32_t offset_of(const lw_model *m, const char *name, int32_t index) {
  char field[LONGEST_FIELD];
  const char *blank = strchr(name, ' ');
  int32_t first, count;
  if (!blank || blank - name >= LONGEST_FIELD) return -1;
  memcpy(field, name, (size_t)(blank - name));
  field[blank - name] = 0;
  if (lw_model_find_variable(m, field, blank[1] ? blank + 1 : NULL, &first, &count)) return -1;
  return lw_within(index, 0, count) ? first + index : -1;
}

static lw_status refuse_quantity(reader *r, const lw_model *m, const char *reader_name, int32_t number) {
  return lw_format_error(r, "'%.60s': formula_quantity %d points outside of what it may read: number %d of '%.60s'",
                         reader_name, (int)number, (int)m->formula_quantity[number].index, m->quantity_name[number]);
}

static lw_status find_quantity(reader *r, lw_model *m, int32_t formula, int32_t number) {
  lw_formula_quantity_row *quantity = &m->formula_quantity[number];
  quantity->offset = offset_of(m, m->quantity_name[number], quantity->index);
  if (quantity->offset >= 0 && is_known(m, formula, quantity->offset)) return LW_OK;
  return refuse_quantity(r, m, lw_owner_of_formula(m, formula), number);
}

static lw_status find_watched(reader *r, lw_model *m) {
  int32_t number = m->size.formula_quantities - watched_variables(m);
  for (int32_t i = 0; i < m->size.transitions; i++) {
    if (!watches_variable(&m->transition[i])) continue;
    m->transition[i].number = offset_of(m, m->quantity_name[number], m->formula_quantity[number].index);
    if (m->transition[i].number < 0) return refuse_quantity(r, m, m->transition_name[i], number);
    number++;
  }
  return LW_OK;
}

/* ---- kinks ---- */

/* Formulas of forces and states move something; those of couplings have no kinks, and those of outputs do not matter. */
static int moves_something(const lw_model *m, int32_t formula) {
  return formula < lw_formulas_of_forces(m) || lw_within(formula, lw_first_of_states(m), lw_first_of_couplings(m));
}

/* Kinks of an instruction, unless it is made of parameters alone; `varies`: of the values before it, and then of its own. */
static int32_t kinks_of(const lw_model *m, const lw_formula_rows *f, int32_t i, int32_t *varies) {
  const lw_instruction *one = &m->instruction[f->first_instruction + i];
  const int is_table = one->operation == LW_DO_table;
  varies[i] = one->operation == LW_DO_quantity;
  for (int32_t k = 0; k < lw_operands_of[one->operation]; k++) varies[i] |= varies[one->operand[k]];
  return varies[i] ? lw_kinks_of(one, is_table ? m->lookup_table[f->first_table + one->operand[2]].arguments : 1) : 0;
}

/* Behind the indicators of transitions. */
void lw_count_kinks(lw_model *m) {
  m->size.kinks = 0;
  for (int32_t k = 0; k < m->size.formulas; k++)
    for (int32_t i = 0; moves_something(m, k) && i < m->formula[k].instructions; i++)
      m->size.kinks += kinks_of(m, &m->formula[k], i, m->formula_operand);
  m->size.event_indicators += m->size.kinks;
}

/* Where its kinks stand in the block, step by step; returns the next one. */
static int32_t place_kinks(const lw_model *m, int32_t formula, int32_t first, lw_program_step *step) {
  const lw_formula_rows *f = &m->formula[formula];
  int32_t next = first;
  for (int32_t i = 0; i < f->instructions; i++) {
    const int32_t own = moves_something(m, formula) ? kinks_of(m, f, i, m->formula_operand) : 0;
    step[i].kink = own ? m->at.kink + LW_KINK_NUMBERS * next : 0;
    next += own;
  }
  return next;
}

/* Known without the motion: parameters, states, time and inputs, and of forces on tree joints what follows from these. */
static int is_state_or_input(const lw_model *m, int32_t formula, int32_t offset) {
  const int32_t force = m->first_force[LW_FIRST_BY_FORMULA] + formula;
  if (formula < lw_formulas_of_forces(m) && lw_type_of_force(m, force) == LW_FORCE_JOINT_FORMULA &&
      is_own_motion(m, force, offset)) {
    const lw_force *own = &m->force[force];
    for (int32_t g = own->first; g < own->first + own->gears; g++)
      if (m->gear[g].u >= m->size.nu) return 0;
    return 1;
  }
  return offset < m->at.qdot;
}

/* ---- programs ---- */

#define FUSED_AWAY LW_PROGRAM_OPERATIONS /* the operation of an instruction that another one includes */

/* ---- fused operations ---- */

static void count_uses(const lw_model *m, const lw_formula_rows *f, int32_t *uses) {
  const lw_instruction *code = m->instruction + f->first_instruction;
  for (int32_t i = 0; i < f->instructions; i++) {
    uses[i] = 0;
    for (int32_t k = 0; k < lw_operands_of[code[i].operation]; k++) uses[code[i].operand[k]]++;
  }
  for (int32_t k = 0; k < f->results; k++) uses[m->formula_result[f->first_result + k]] += 2;
}

/* One that takes a value which nothing else needs takes the place of that one, too. */
static void fuse_instruction(lw_instruction *code, int32_t i, const int32_t *uses) {
  for (int32_t k = 0; k < lw_operands_of[code[i].operation]; k++) {
    lw_instruction *first = &code[code[i].operand[k]];
    const int32_t both = uses[code[i].operand[k]] == 1 ? lw_fused(first->operation, code[i].operation, k) : -1;
    if (both < 0) continue;
    lw_instruction one = {.operation = both};
    const int32_t own = lw_operands_in_program(first->operation);
    for (int32_t j = 0; j < own; j++) one.operand[j] = first->operand[j];
    one.operand[own] = code[i].operand[!k];
    code[i] = one;
    first->operation = FUSED_AWAY;
    return;
  }
}

static void fuse_instructions(lw_model *m, const lw_formula_rows *f) {
  count_uses(m, f, m->formula_operand);
  for (int32_t i = 0; i < f->instructions; i++)
    if (m->instruction[f->first_instruction + i].operation < LW_OPERATIONS)
      fuse_instruction(m->instruction + f->first_instruction, i, m->formula_operand);
}

/* Numbers and quantities stand in the block: what remains are the other instructions. There is a place for the end behind
 * them, because the first instruction of a formula has no values before it. */
static void make_program(lw_model *m, int32_t formula, int32_t kinks) {
  const lw_formula_rows *f = &m->formula[formula];
  const lw_instruction *code = m->instruction + f->first_instruction;
  lw_program_step *step = m->program_step + f->first_instruction, *free = step + m->instructions;
  int32_t *result = m->formula_result + f->first_result, *operand = m->formula_operand, n = 0;
  for (int32_t i = 0; i < f->instructions; i++) {
    const int32_t operation = code[i].operation;
    if (operation == LW_DO_number) operand[i] = m->at.formula_number + f->first_number + code[i].operand[0];
    else if (operation == FUSED_AWAY) continue;
    else if (operation == LW_DO_quantity)
      operand[i] = m->formula_quantity[f->first_quantity + code[i].operand[0]].offset;
    else {
      lw_program_step one = {step[i].kink ? lw_kinked(operation) : operation, {0, 0, 0}, step[i].kink};
      for (int32_t k = 0; k < lw_operands_in_program(operation); k++) one.operand[k] = operand[code[i].operand[k]];
      if (operation == LW_DO_integer_power) one.operand[1] = code[i].operand[1];
      if (operation == LW_DO_table) one.operand[2] = code[i].operand[2];
      operand[i] = m->at.formula_value + n;
      step[n] = free[n] = one;
      free[n++].operation = operation;
    }
  }
  free[n] = step[n] = (lw_program_step){.operation = LW_PROGRAM_END};
  for (int32_t k = 0; k < f->results; k++) result[k] = operand[result[k]];
  m->program[formula] = (lw_program){.code = step,
                                     .free = free,
                                     .result = result,
                                     .value = m->at.formula_value,
                                     .instructions = n,
                                     .quantities = f->quantities,
                                     .quantity = m->formula_quantity + f->first_quantity,
                                     .tables = f->tables,
                                     .table = m->lookup_table + f->first_table,
                                     .kinks = kinks,
                                     .results = f->results};
}

lw_status lw_make_programs(reader *r, lw_model *m) {
  int32_t kinks = 0;
  for (int32_t k = 0; k < m->size.lookup_tables; k++) {
    lw_lookup *t = &m->lookup_table[k];
    t->value = m->at.lookup_value + t->first_value, t->slope = m->at.lookup_slope + t->first_slope;
    t->region = lw_has_regions(t) ? m->at.lookup_region + t->region : 0;
    t->refused = m->at.lookup_refused + 2 * k;
  }
  for (int32_t k = 0; k < m->size.formulas; k++) {
    const lw_formula_rows *f = &m->formula[k];
    const int32_t first = kinks;
    kinks = place_kinks(m, k, first, m->program_step + f->first_instruction);
    for (int32_t q = f->first_quantity; q < f->first_quantity + f->quantities; q++) {
      const lw_status e = find_quantity(r, m, k, q);
      if (e) return e;
      m->kinks_need_motion |= kinks > first && !is_state_or_input(m, k, m->formula_quantity[q].offset);
    }
    if (k < lw_first_of_couplings(m)) fuse_instructions(m, f); /* the others are differentiated */
    make_program(m, k, kinks - first);
  }
  return find_watched(r, m);
}
