/// Prints predicates and expressions in the format language, with parentheses only where needed.
///
/// Parsing the result gives the same tree. The printer appends to one text; precedences are those
/// of `PredicateParser`.
struct PredicatePrinter {
  /// The text so far.
  var text = ""
  /// The depth of the current part.
  private var depth = 0

  /// Prints a part a level deeper, or `…` beyond the depth that can be evaluated.
  private mutating func inside(_ body: (inout Self) -> Void) {
    guard depth <= PredicateLimits.greatestDepth else { return text += "…" }
    depth += 1
    body(&self)
    depth -= 1
  }

  // MARK: Predicates

  /// Prints a condition.
  mutating func print(_ predicate: Predicate) { inside { $0.printBare(predicate) } }

  /// Prints a condition without counting its depth.
  private mutating func printBare(_ predicate: Predicate) {
    switch predicate {
    case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): print(comparison, quantifier: comparison.modifier.keyword)
    case .and(let parts): print(parts, separator: " AND ", empty: true)
    case .or(let parts): print(parts, separator: " OR ", empty: false)
    case .not(.comparison(let comparison)) where comparison.modifier == .any: print(comparison, quantifier: "NONE ")
    case .not(let inner):
      text += "NOT "
      printPart(inner)
    }
  }

  /// Prints the parts of a conjunction or disjunction. `empty` is the constant for no parts.
  private mutating func print(_ parts: [Predicate], separator: String, empty: Bool) {
    if parts.isEmpty { return print(.constant(empty)) }
    if parts.count == 1 { return print(parts[0]) }
    for (index, part) in parts.enumerated() {
      if index > 0 { text += separator }
      printPart(part)
    }
  }

  /// Prints a part, in parentheses if it has several parts itself.
  private mutating func printPart(_ part: Predicate) {
    switch part {
    case .and(let parts) where parts.count > 1, .or(let parts) where parts.count > 1:
      text += "("
      print(part)
      text += ")"
    case .and(let parts) where parts.count == 1, .or(let parts) where parts.count == 1:
      inside { $0.printPart(parts[0]) }
    default: print(part)
    }
  }

  /// Prints a comparison with its quantifier and options.
  private mutating func print(_ comparison: Predicate.Comparison, quantifier: String) {
    text += quantifier
    print(comparison.left, inside: .bitOr)
    text += " \(comparison.operator.rawValue)\(comparison.options.suffix) "
    print(comparison.right, inside: .bitOr)
  }

  // MARK: Expressions

  /// The precedence of an expression. A weaker expression needs parentheses within a stronger one.
  private enum Strength: Int {
    case assignment, bitOr, bitXor, bitAnd, shift, sum, product, power, number, postfix
  }

  /// The precedence of an expression.
  private func strength(of expression: Expression) -> Strength {
    switch expression {
    case .assignment: .assignment
    case .function("bitwiseOr:with:", let operands) where operands.count == 2: .bitOr
    case .function("bitwiseXor:with:", let operands) where operands.count == 2: .bitXor
    case .function("bitwiseAnd:with:", let operands) where operands.count == 2: .bitAnd
    case .function("leftshift:by:", let operands) where operands.count == 2: .shift
    case .function("rightshift:by:", let operands) where operands.count == 2: .shift
    case .function("onesComplement:", let operands) where operands.count == 1: .power
    case .function("add:to:", let operands) where operands.count == 2: .sum
    case .function("from:subtract:", let operands) where operands.count == 2: .sum
    case .function("multiply:by:", let operands) where operands.count == 2: .product
    case .function("divide:by:", let operands) where operands.count == 2: .product
    case .function("raise:toPower:", let operands) where operands.count == 2: .power
    // A negative number prints like a sum. A period after digits would be part of the number.
    case .constant(.int(let value)): value < 0 ? .sum : .number
    case .constant(.double(let value)) where value.isFinite: value.sign == .minus ? .sum : .number
    default: .postfix
    }
  }

  /// Prints an expression.
  mutating func print(_ expression: Expression) { print(expression, inside: .assignment) }

  /// Prints an expression within another, in parentheses if it is weaker.
  private mutating func print(_ expression: Expression, inside strength: Strength) {
    let needsParentheses = self.strength(of: expression).rawValue < strength.rawValue
    if needsParentheses { text += "(" }
    printBare(expression)
    if needsParentheses { text += ")" }
  }

  /// Prints an expression without parentheses.
  private mutating func printBare(_ expression: Expression) { inside { $0.printParts(of: expression) } }

  /// Prints the parts of an expression.
  private mutating func printParts(of expression: Expression) {
    switch expression {
    case .constant(let value): print(value)
    case .evaluatedObject: text += "SELF"
    case .variable(let name): text += "$\(name)"
    case .keyPath(let base, let components): print(base, components: components)
    case .function(let name, let arguments): printFunction(name, arguments: arguments)
    case .aggregate(let elements):
      text += "{"
      printList(elements)
      text += "}"
    case .subquery(let collection, let variable, let condition):
      text += "SUBQUERY("
      print(collection)
      text += ", $\(variable), "
      print(condition)
      text += ")"
    case .conditional(let condition, let then, let otherwise):
      text += "TERNARY("
      print(condition)
      text += ", "
      printList([then, otherwise])
      text += ")"
    case .assignment(let name, let value):
      text += "$\(name) := "
      print(value)
    case .anyKey: text += "ANYKEY"
    }
  }

  /// Prints expressions separated by commas.
  private mutating func printList(_ expressions: [Expression]) {
    for (index, expression) in expressions.enumerated() {
      if index > 0 { text += ", " }
      print(expression)
    }
  }

  /// Prints a key path. Keys that are reserved words are escaped.
  private mutating func print(_ base: Expression, components: [String]) {
    var isFirst = true
    if base != .evaluatedObject || components.first?.hasPrefix("@") ?? true {
      print(base, inside: .postfix)
      isFirst = false
    }
    for component in components {
      if !isFirst { text += "." }
      text += PredicateText.key(component)
      isFirst = false
    }
  }

  // MARK: Functions

  /// Prints a call, as an operator if the function has a sign.
  private mutating func printFunction(_ name: String, arguments: [Expression]) {
    if arguments.count == 2, let (sign, left, right) = signs(of: name) {
      print(arguments[0], inside: left)
      text += sign
      print(arguments[1], inside: right)
      return
    }
    switch (PredicateFunction(rawValue: name), arguments.count) {
    case (.element, 2):
      print(arguments[0], inside: .postfix)
      text += "["
      print(arguments[1])
      text += "]"
    case (.onesComplement, 1):
      text += "~"
      print(arguments[0], inside: .power)
    case (.cast, 2):
      text += "CAST("
      printList(arguments)
      text += ")"
    case (.first, 0), (.last, 0), (.size, 0): text += name
    case (let function?, 1...) where function.isMethod:
      text += "FUNCTION("
      printList([arguments[0], .constant(.string(name))] + arguments.dropFirst())
      text += ")"
    default:
      text += "\(name)("
      printList(arguments)
      text += ")"
    }
  }

  /// The sign of an operator and the precedences required of its operands. All operators but powers associate to the
  /// left.
  private func signs(of name: String) -> (String, Strength, Strength)? {
    switch name {
    case "add:to:": (" + ", .sum, .product)
    case "from:subtract:": (" - ", .sum, .product)
    case "multiply:by:": (" * ", .product, .power)
    case "divide:by:": (" / ", .product, .power)
    case "raise:toPower:": (" ** ", .number, .power)
    case "leftshift:by:": (" << ", .shift, .sum)
    case "rightshift:by:": (" >> ", .shift, .sum)
    case "bitwiseAnd:with:": (" & ", .bitAnd, .shift)
    case "bitwiseXor:with:": (" ^ ", .bitXor, .bitAnd)
    case "bitwiseOr:with:": (" | ", .bitOr, .bitXor)
    default: nil
    }
  }

  // MARK: Values

  /// Prints a value; a list in braces.
  private mutating func print(_ value: Value) {
    switch value {
    case .list(let elements):
      text += "{"
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        inside { $0.print(element) }
      }
      text += "}"
    default: text += PredicateText.literal(value)
    }
  }
}

extension Predicate.Comparison.Modifier {
  /// The quantifier with a space; empty without one.
  fileprivate var keyword: String {
    switch self {
    case .direct: ""
    case .any: "ANY "
    case .all: "ALL "
    }
  }
}
