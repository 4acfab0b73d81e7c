import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Random predicates over people of `World`, determined by the seed.
struct RandomPredicates {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }

  private mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

  mutating func predicate(depth: Int = 3, base: Expression = .evaluatedObject) -> Predicate {
    switch depth > 0 ? below(9) : 8 {
    case 0: .and(parts(depth, base))
    case 1: .or(parts(depth, base))
    case 2, 3: .not(predicate(depth: depth - 1, base: base))
    case 4 where depth > 1: subquery(depth, base)
    case 5: quantified(base)
    default: comparison(depth, base)
    }
  }

  private mutating func parts(_ depth: Int, _ base: Expression) -> [Predicate] {
    (0..<2 + below(2)).map { _ in predicate(depth: depth - 1, base: base) }
  }

  private mutating func subquery(_ depth: Int, _ base: Expression) -> Predicate {
    let name = "v\(depth)"
    let condition = predicate(depth: depth - 2, base: .variable(name))
    let found = Expression.subquery(.keyPath(base, ["children"]), variable: name, condition)
    return .comparison(.init(.keyPath(found, ["@count"]), pick(orders), .constant(.int(Int64(below(3))))))
  }

  private mutating func quantified(_ base: Expression) -> Predicate {
    let modifier = pick([Predicate.Comparison.Modifier.any, .all])
    let isNumber = below(2) == 0
    let key = isNumber ? pick(["age", "height"]) : pick(["name", "nick"])
    let path = Expression.keyPath(base, ["children", key])
    return isNumber
      ? .comparison(.init(path, pick(orders), number(), modifier: modifier))
      : .comparison(.init(path, pick(texts), .constant(text()), modifier: modifier, options: options()))
  }

  private mutating func comparison(_ depth: Int, _ base: Expression) -> Predicate {
    switch below(8) {
    case 0:
      .comparison(.init(textPath(base), pick(texts + [.equal, .notEqual]), .constant(text()), options: options()))
    case 1: .comparison(.init(textPath(base), pick([.equal, .notEqual]), .constant(.null)))
    case 2: .comparison(.init(numeric(1, base), .between, .aggregate([number(), number()])))
    case 3: .comparison(.init(numeric(1, base), .in, .aggregate((0..<below(4)).map { _ in number() })))
    case 4:
      .comparison(
        .init(.keyPath(base, ["boss"]), pick([.equal, .notEqual]), pick([.constant(.null), .evaluatedObject])))
    case 5: .comparison(.init(numeric(1, base), pick([.equal, .notEqual]), .constant(.null)))
    default: .comparison(.init(numeric(depth, base), pick(orders), numeric(1, base)))
    }
  }

  private let orders: [Predicate.Comparison.Operator] = [
    .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
  ]
  private let texts: [Predicate.Comparison.Operator] = [.contains, .beginsWith, .endsWith]

  private mutating func options() -> Predicate.Comparison.Options {
    pick([[], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]])
  }

  private mutating func textPath(_ base: Expression) -> Expression {
    .keyPath(base, pick([["name"], ["nick"], ["boss", "name"], ["department", "name"]]))
  }

  private mutating func text() -> Value {
    .string(pick(["", "a", "A", "é", "E", "e", "da", "zoë", "B", "m", "Sales", "ë"]))
  }

  private mutating func number() -> Expression {
    .constant(pick([.int(Int64(below(120)) - 10), .double(Double(below(40)) / 4), .int(36), .int(12), .double(1.65)]))
  }

  private mutating func numeric(_ depth: Int, _ base: Expression) -> Expression {
    switch below(depth > 0 ? 7 : 3) {
    case 0: number()
    case 1, 2: .keyPath(base, pick([["age"], ["height"], ["boss", "age"], ["department", "budget"]]))
    case 3: .keyPath(base, ["children", pick(["@sum", "@min", "@max"]), "age"])
    case 4: .keyPath(base, ["children", "@count"])
    case 5: .conditional(predicate(depth: 0, base: base), numeric(0, base), numeric(0, base))
    default:
      .function(
        pick([
          "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "bitwiseAnd:with:", "bitwiseOr:with:",
          "bitwiseXor:with:",
        ]),
        [numeric(depth - 1, base), numeric(depth - 1, base)])
    }
  }
}
