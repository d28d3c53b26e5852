#include "tape/write_tape.h"
#include <algorithm>

namespace lw {

namespace {

constexpr int32_t NEVER = INT32_MAX;

/* Hands out registers, lowest numbers first, so that few are used. */
class registers {
 public:
  int32_t take() {
    if (unused.empty()) return count++;
    const int32_t found = unused.back();
    unused.pop_back();
    return found;
  }
  void give_back(int32_t number) { unused.push_back(number); }
  int32_t count = 0;

 private:
  std::vector<int32_t> unused;
};

std::vector<char> needed_nodes(const record &from, size_t results) {
  std::vector<char> needed(from.nodes.size(), 0);
  for (size_t i = 0; i < results; i++) needed[(size_t)from.results[i]] = 1;
  for (const guard &g : from.guards) needed[(size_t)g.a] = needed[(size_t)g.b] = 1;
  for (size_t i = from.nodes.size(); i-- > 0;)
    for (int k = 0; needed[i] && k < lw_tape_operands(from.nodes[i].operation); k++)
      needed[(size_t)from.nodes[i].operand[k]] = 1;
  return needed;
}

/* How often each node is an operand, of guards too; results count as one. */
std::vector<int32_t> count_uses(const record &from, const std::vector<char> &needed) {
  std::vector<int32_t> uses(from.nodes.size(), 0);
  for (size_t i = 0; i < from.nodes.size(); i++)
    for (int k = 0; needed[i] && k < lw_tape_operands(from.nodes[i].operation); k++)
      uses[(size_t)from.nodes[i].operand[k]]++;
  for (const guard &g : from.guards) uses[(size_t)g.a]++, uses[(size_t)g.b]++;
  for (const int32_t one : from.results) uses[(size_t)one]++;
  return uses;
}

/* Sums and differences take products into them that nothing else needs. */
void fuse_products(record *of) {
  const std::vector<int32_t> uses = count_uses(*of, needed_nodes(*of, of->results.size()));
  const auto is_lone_product = [&](int32_t i) {
    return of->nodes[(size_t)i].operation == LW_TAPE_multiply && uses[(size_t)i] == 1;
  };
  for (node &sum : of->nodes) {
    const bool adds = sum.operation == LW_TAPE_add;
    if (!adds && sum.operation != LW_TAPE_subtract) continue;
    const int32_t a = sum.operand[0], b = sum.operand[1];
    if (is_lone_product(a)) {
      const node &product = of->nodes[(size_t)a];
      sum = {adds ? LW_TAPE_multiply_add : LW_TAPE_multiply_subtract, {product.operand[0], product.operand[1], b, 0}};
    } else if (is_lone_product(b)) {
      const node &product = of->nodes[(size_t)b];
      sum = {adds ? LW_TAPE_multiply_add : LW_TAPE_subtract_product, {product.operand[0], product.operand[1], a, 0}};
    }
  }
}

/* Guards by the last node that they compare: there they are decided, and need their numbers no longer. */
std::vector<std::vector<guard>> guards_by_node(const record &from) {
  std::vector<std::vector<guard>> found(from.nodes.size());
  for (const guard &g : from.guards) found[(size_t)std::max(g.a, g.b)].push_back(g);
  return found;
}

/* Whether the sine of a node and the cosine of the next one are of the same angle. */
bool makes_cosine_too(const record &from, const std::vector<char> &needed, size_t i) {
  if (from.nodes[i].operation != LW_TAPE_sine || i + 1 == from.nodes.size() || !needed[i + 1]) return false;
  const node &next = from.nodes[i + 1];
  return next.operation == LW_TAPE_cosine && next.operand[0] == from.nodes[i].operand[0];
}

/* Puts nodes that guards and the first results need before all others; returns how many. */
size_t put_first(record *of, size_t results) {
  const size_t n = of->nodes.size();
  std::vector<char> first = needed_nodes(*of, results);
  const std::vector<char> needed = needed_nodes(*of, of->results.size());
  first[0] = 1; /* the constant zero */
  for (size_t i = 0; i < n; i++)
    if (needed[i] && makes_cosine_too(*of, needed, i)) first[i] = first[i + 1] = first[i] | first[i + 1];
  record moved = {{}, {}, of->guards, of->results};
  std::vector<int32_t> at(n, 0);
  for (const char group : {(char)1, (char)0})
    for (size_t i = 0; i < n; i++) {
      if (first[i] != group) continue;
      at[i] = (int32_t)moved.nodes.size();
      moved.nodes.push_back(of->nodes[i]), moved.value.push_back(of->value[i]);
    }
  for (node &one : moved.nodes)
    for (int k = 0; k < lw_tape_operands(one.operation); k++) one.operand[k] = at[(size_t)one.operand[k]];
  for (guard &g : moved.guards) g.a = at[(size_t)g.a], g.b = at[(size_t)g.b];
  for (int32_t &one : moved.results) one = at[(size_t)one];
  *of = std::move(moved);
  return (size_t)std::count(first.begin(), first.end(), (char)1);
}

/* The step behind which a node is not needed, counted in nodes. */
std::vector<int32_t> last_uses(const record &from, const std::vector<char> &needed) {
  std::vector<int32_t> last(from.nodes.size(), 0);
  for (size_t i = 0; i < from.nodes.size(); i++)
    for (int k = 0; needed[i] && k < lw_tape_operands(from.nodes[i].operation); k++)
      last[(size_t)from.nodes[i].operand[k]] = (int32_t)i;
  for (const guard &g : from.guards)
    for (const int32_t one : {g.a, g.b}) last[(size_t)one] = std::max(last[(size_t)one], std::max(g.a, g.b));
  for (const int32_t one : from.results) last[(size_t)one] = NEVER;
  return last;
}

} // namespace

lw_tape written_tape::view() const {
  lw_tape t = {};
  t.step = steps.data(), t.steps = (int32_t)steps.size(), t.registers = registers;
  t.inputs = (int32_t)inputs.size(), t.constants = (int32_t)constants.size(), t.constant = constants.data();
  t.kept = kept, t.results = (int32_t)results.size(), t.result = results.data(), t.guards = guards;
  t.first_steps = first_steps, t.first_results = first_results;
  return t;
}

written_tape write_tape(record from, int32_t kept, int32_t first_results, std::vector<int32_t> *kept_inputs) {
  written_tape out;
  fuse_products(&from);
  const size_t first_nodes = put_first(&from, (size_t)first_results);
  const std::vector<char> needed = needed_nodes(from, from.results.size());
  std::vector<int32_t> last = last_uses(from, needed), at(from.nodes.size(), -1);
  const std::vector<std::vector<guard>> guards = guards_by_node(from);
  registers free;
  const auto is_input = [&](size_t i) { return needed[i] && from.nodes[i].operation == LW_TAPE_INPUT; };
  for (size_t i = 0; i < from.nodes.size(); i++)
    if (is_input(i) && from.nodes[i].operand[0] < kept)
      at[i] = free.take(), out.inputs.push_back(from.nodes[i].operand[0]);
  for (size_t i = 0; i < from.nodes.size(); i++)
    if (needed[i] && from.nodes[i].operation == LW_TAPE_CONSTANT)
      at[i] = free.take(), last[i] = NEVER, out.constants.push_back(from.value[i]);
  for (size_t i = 0; i < from.nodes.size(); i++)
    if (is_input(i) && from.nodes[i].operand[0] >= kept)
      at[i] = free.take(), last[i] = NEVER, out.kept++, kept_inputs->push_back(from.nodes[i].operand[0]);
  const auto give_back = [&](int32_t node, size_t now) {
    if (last[(size_t)node] != (int32_t)now || at[(size_t)node] < 0) return;
    free.give_back(at[(size_t)node]);
    at[(size_t)node] = -1;
  };
  for (size_t i = 0; i < from.nodes.size(); i++) {
    if (!needed[i]) continue;
    const node &one = from.nodes[i];
    const int operands = lw_tape_operands(one.operation);
    if (operands && at[i] < 0) { /* else the step before has made it */
      lw_tape_step step = {one.operation, 0, {}};
      for (int k = 0; k < operands; k++) step.operand[k] = at[(size_t)one.operand[k]];
      step.to = at[i] = free.take(); /* none of its operands: the interpreter reads these while it writes */
      if (makes_cosine_too(from, needed, i)) {
        step.operation = LW_TAPE_sine_cosine;
        step.operand[1] = at[i + 1] = free.take();
      }
      out.steps.push_back(step);
    }
    for (const guard &g : guards[i]) {
      out.steps.push_back({g.comparison, 0, {at[(size_t)g.a], at[(size_t)g.b], 0, 0}});
      out.guards++;
    }
    for (int k = 0; k < operands; k++) give_back(one.operand[k], i);
    for (const guard &g : guards[i]) give_back(g.a, i), give_back(g.b, i);
    if (i < first_nodes) out.first_steps = (int32_t)out.steps.size();
  }
  for (const int32_t one : from.results) out.results.push_back(at[(size_t)one]);
  out.registers = free.count, out.first_results = first_results;
  return out;
}

} // namespace lw
