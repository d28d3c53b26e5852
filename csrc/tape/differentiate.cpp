/* Elimination of vertices (Griewank, A., Walther, A.: Evaluating derivatives, SIAM 2008, chapters 9 and 10): of each node the
 * partial derivatives by its operands are edges of a graph. A node between is taken out by what passes through it: of each of
 * its successors the derivative by each of its predecessors grows by the product of the two edges. In the end all edges lead
 * from inputs to results. The node with the fewest products is next, as Markowitz chooses pivots. Reverse accumulation, row
 * by row, would take up to three times as many. */
#include "tape/differentiate.h"
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace lw {

namespace {

constexpr recorded ZERO = {0.0, 0}, HALF = {0.5, 0}, ONE = {1.0, 0}, MINUS_ONE = {-1.0, 0};

class graph {
 public:
  graph(recorder &to, const std::vector<recorded> &results, const std::vector<recorded> &inputs)
      : to(to), nodes(to.kept.nodes.size()), moves(nodes, 0) {
    for (const recorded &one : inputs) moves[(size_t)one.node] = 1;
    for (size_t i = 0; i < nodes; i++)
      for (int k = 0; k < lw_tape_operands(to.kept.nodes[i].operation); k++)
        moves[i] |= moves[(size_t)to.kept.nodes[i].operand[k]];
    before.resize(nodes + results.size()), after.resize(nodes + results.size()), stays.resize(nodes + results.size());
    for (const recorded &one : inputs) stays[(size_t)one.node] = 1;
    add_edges(results);
  }

  void eliminate() {
    for (size_t i = 0; i < before.size(); i++) offer((int32_t)i);
    while (!next.empty()) {
      const auto [products, minus_node] = next.top();
      next.pop();
      const int32_t node = -minus_node;
      if (stays[(size_t)node]) continue;
      if (products != products_of(node)) offer(node);
      else take_out(node);
    }
  }

  recorded derivative(size_t result, recorded input) const {
    const edges &of = before[nodes + result];
    const auto found = of.find(input.node);
    return found == of.end() ? ZERO : found->second;
  }

 private:
  using edges = std::map<int32_t, recorded>; /* derivatives by predecessors */
  recorder &to;
  size_t nodes;            /* results stand behind them, each with an edge from its node */
  std::vector<char> moves; /* nodes that change with an input */
  std::vector<char> stays; /* inputs, results, and nodes that have been taken out */
  std::vector<edges> before;
  std::vector<std::set<int32_t>> after;
  std::priority_queue<std::pair<int64_t, int32_t>, std::vector<std::pair<int64_t, int32_t>>, std::greater<>> next;

  /* Of nodes that results need, and that move. */
  void add_edges(const std::vector<recorded> &results) {
    for (size_t i = 0; i < results.size(); i++) {
      stays[nodes + i] = 1;
      if (moves[(size_t)results[i].node]) add_edge((int32_t)(nodes + i), results[i].node, ONE);
    }
    for (int32_t i = (int32_t)nodes - 1; i >= 0; i--)
      if (!after[(size_t)i].empty() && !stays[(size_t)i]) add_partial_derivatives(i);
  }

  void add_edge(int32_t of, int32_t by, recorded derivative) {
    if (derivative.node == 0 && derivative.value == 0.0) return;
    const auto [edge, is_new] = before[(size_t)of].emplace(by, derivative);
    if (is_new) after[(size_t)by].insert(of);
    else edge->second = add(edge->second, derivative);
  }

  int64_t products_of(int32_t node) const {
    return (int64_t)before[(size_t)node].size() * (int64_t)after[(size_t)node].size();
  }
  /* Of equal ones the last is the first to go. */
  void offer(int32_t node) {
    if (!stays[(size_t)node]) next.emplace(products_of(node), -node);
  }

  void take_out(int32_t node) {
    const edges in = std::move(before[(size_t)node]);
    const std::set<int32_t> out = std::move(after[(size_t)node]);
    before[(size_t)node].clear(), after[(size_t)node].clear();
    stays[(size_t)node] = 1;
    for (const auto &[by, derivative] : in) after[(size_t)by].erase(node);
    for (const int32_t of : out) {
      const recorded through = before[(size_t)of].at(node);
      before[(size_t)of].erase(node);
      for (const auto &[by, derivative] : in) add_edge(of, by, times(through, derivative));
      offer(of);
    }
    for (const auto &[by, derivative] : in) offer(by);
  }

  recorded value(int32_t node) const { return {to.kept.value[(size_t)node], node}; }
  recorded operand(int32_t node, int k) const { return of_node(to.kept.nodes[(size_t)node].operand[k]); }
  recorded of_node(int32_t node) const {
    const bool constant = to.kept.nodes[(size_t)node].operation == LW_TAPE_CONSTANT;
    return {to.kept.value[(size_t)node], constant ? 0 : node};
  }
  recorded add(recorded a, recorded b) { return to.apply(LW_TAPE_add, a, b); }
  recorded times(recorded a, recorded b) { return to.apply(LW_TAPE_multiply, a, b); }
  recorded over(recorded a, recorded b) { return to.apply(LW_TAPE_divide, a, b); }
  recorded minus(recorded a) { return to.apply(LW_TAPE_minus, a); }
  recorded where_less(recorded a, recorded b, recorded yes, recorded no) {
    return to.apply(LW_TAPE_select_less, a, b, yes, no);
  }

  void add_partial_derivatives(int32_t node) {
    const lw_tape_operation operation = to.kept.nodes[(size_t)node].operation;
    const auto moved = [&](int k) { return moves[(size_t)to.kept.nodes[(size_t)node].operand[k]] != 0; };
    const auto give = [&](int k, recorded derivative) {
      if (moved(k)) add_edge(node, to.kept.nodes[(size_t)node].operand[k], derivative);
    };
    if (lw_tape_operands(operation) == 0) return;
    const recorded f = value(node), a = operand(node, 0), b = lw_tape_operands(operation) > 1 ? operand(node, 1) : ZERO;
    switch (operation) {
      case LW_TAPE_add: give(0, ONE), give(1, ONE); break;
      case LW_TAPE_subtract: give(0, ONE), give(1, MINUS_ONE); break;
      case LW_TAPE_multiply: give(0, b), give(1, a); break;
      case LW_TAPE_divide: {
        const recorded inverse = over(ONE, b);
        give(0, inverse);
        if (moved(1)) give(1, minus(times(inverse, f)));
        break;
      }
      case LW_TAPE_minus: give(0, MINUS_ONE); break;
      case LW_TAPE_sqrt: give(0, over(HALF, f)); break;
      case LW_TAPE_abs: give(0, where_less(a, ZERO, MINUS_ONE, ONE)); break;
      case LW_TAPE_select_less:
        if (moved(2)) give(2, where_less(a, b, ONE, ZERO));
        if (moved(3)) give(3, where_less(a, b, ZERO, ONE));
        break;
      case LW_TAPE_sine: give(0, to.apply(LW_TAPE_cosine, a)); break;
      case LW_TAPE_cosine: give(0, minus(to.apply(LW_TAPE_sine, a))); break;
      case LW_TAPE_arctan2: {
        const recorded share = over(ONE, add(times(a, a), times(b, b)));
        if (moved(0)) give(0, times(share, b));
        if (moved(1)) give(1, minus(times(share, a)));
        break;
      }
      case LW_TAPE_exp: give(0, f); break;
      case LW_TAPE_log: give(0, over(ONE, a)); break;
      case LW_TAPE_pow:
        if (moved(0)) give(0, times(b, to.apply(LW_TAPE_pow, a, add(b, MINUS_ONE))));
        if (moved(1)) give(1, times(f, to.apply(LW_TAPE_log, a)));
        break;
      case LW_TAPE_sinh: give(0, to.apply(LW_TAPE_cosh, a)); break;
      case LW_TAPE_cosh: give(0, to.apply(LW_TAPE_sinh, a)); break;
      case LW_TAPE_tanh: give(0, times(add(ONE, minus(f)), add(ONE, f))); break;
      default: break; /* whole numbers do not change */
    }
  }
};

} // namespace

namespace {

/* Rows of so many recorded numbers. */
class matrix {
 public:
  matrix(std::vector<recorded> numbers, size_t columns) : numbers(std::move(numbers)), columns(columns) {}
  recorded operator()(size_t row, size_t column) const { return numbers[row * columns + column]; }

 private:
  std::vector<recorded> numbers;
  size_t columns;
};

} // namespace

std::vector<recorded> differentiate(recorder &to, const std::vector<recorded> &numbers,
                                    const std::vector<recorded> &inputs, const solved_equations &by) {
  const size_t n = by.unknowns.size(), columns = inputs.size();
  std::vector<recorded> all = inputs;
  all.insert(all.end(), by.unknowns.begin(), by.unknowns.end());
  const matrix solution(differentiate(to, by.unknowns, by.given), n);
  const matrix needed(differentiate(to, by.needed, all), columns + n),
      direct(differentiate(to, numbers, all), columns + n);
  const auto added = [&](recorded sum, lw_tape_operation sign, recorded a, recorded b) {
    return to.apply(sign, sum, to.apply(LW_TAPE_multiply, a, b));
  };
  std::vector<recorded> of_unknowns(n * columns), found;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < columns; j++) {
      recorded &sum = of_unknowns[i * columns + j];
      for (size_t k = 0; k < n; k++) {
        if (by.given[k].node == inputs[j].node) sum = to.apply(LW_TAPE_add, sum, solution(i, k));
        sum = added(sum, LW_TAPE_subtract, solution(i, k), needed(k, j));
      }
    }
  for (size_t i = 0; i < numbers.size(); i++)
    for (size_t j = 0; j < columns; j++) {
      recorded sum = direct(i, j);
      for (size_t k = 0; k < n; k++)
        sum = added(sum, LW_TAPE_add, direct(i, columns + k), of_unknowns[k * columns + j]);
      found.push_back(sum);
    }
  return found;
}

std::vector<recorded> differentiate(recorder &to, const std::vector<recorded> &numbers,
                                    const std::vector<recorded> &inputs) {
  for (const guard &g : to.kept.guards)
    if (g.comparison == LW_TAPE_equal) throw refusal("a number that is zero there may be about to change");
  graph g(to, numbers, inputs);
  g.eliminate();
  std::vector<recorded> found;
  for (size_t i = 0; i < numbers.size(); i++)
    for (const recorded &input : inputs) found.push_back(g.derivative(i, input));
  return found;
}

} // namespace lw
