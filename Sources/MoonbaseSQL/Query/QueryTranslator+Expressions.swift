import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression

/// Terms: constants, objects, key paths and functions.
extension QueryTranslator {
  /// Within a condition on groups (`columnTerms` is set), key paths are positions of selected columns. Throws
  /// `Untranslatable` for expressions that only memory evaluates.
  func translate(_ expression: Expression) throws -> SQLTerm {
    if let columnTerms {
      switch expression {
      case .keyPath(.evaluatedObject, let keys): return try columnTerm(keys, among: columnTerms)
      case .constant, .function: break
      default: throw Untranslatable("a part of it is judged in memory only")
      }
    }
    switch expression {
    case .constant(let value): return try constant(value)
    case .evaluatedObject: return object(current)
    case .variable(let name): return object(try scope(ofVariable: name))
    case .keyPath(.evaluatedObject, let keys): return try value(keys[...], from: current)
    case .keyPath(.variable(let name), let keys): return try value(keys[...], from: try scope(ofVariable: name))
    case .keyPath(.subquery(let collection, let variable, let predicate), ["@count"]):
      return try count(collection, variable: variable, where: predicate)
    case .function(let name, let arguments): return try function(name, arguments: arguments)
    case .keyPath, .aggregate, .subquery, .conditional, .assignment, .anyKey:
      throw Untranslatable("a part of it is evaluated in memory only")
    }
  }

  /// The key of the row of a scope.
  private func object(_ scope: QueryScope) -> SQLTerm {
    SQLTerm(fragment: SQLFragment("\(scope.alias).Z_PK"), kind: .object(scope.layout.entity.index), isPresent: true)
  }

  /// The scope of a variable of SUBQUERY. Throws `Untranslatable` for an unknown name.
  private func scope(ofVariable name: String) throws -> QueryScope {
    guard let scope = variables[name] else { throw Untranslatable("it names the variable $\(name)") }
    return scope
  }

  /// A key that no row has. Keys begin at 1.
  private static let keyOfNone: Int64 = -1

  /// A literal. The key of an object in another store or table must not reach SQL, where it would be another object's
  /// key.
  ///
  /// An unsaved object gets a key that no row has. Throws `Untranslatable` for objects of other stores, and for lists
  /// and maps.
  func constant(_ value: Value) throws -> SQLTerm {
    let kind: SQLKind
    switch value {
    case .null: return SQLTerm(fragment: SQLFragment("NULL"), kind: .null)
    case .bool, .int, .double: kind = .number
    case .decimal: kind = .decimal
    case .string(let text) where !dialect.keepsNUL && text.utf8.contains(0):
      throw Untranslatable("\(dialect.engine) has no text with the character NUL")
    case .string: kind = .string
    case .date: kind = .date
    case .data: kind = .data
    case .uuid: kind = .uuid
    case .uri: kind = .uri
    case .objectID(let id) where id.isTemporaryID && layout.model.entity(of: id) != nil:
      // No stored relationship has an unsaved object as its destination.
      return try constant(.objectID(ManagedObjectID(store: store, entity: id.entitySymbol, key: Self.keyOfNone)))
    case .objectID(let id):
      guard id.storeNumber == store.rawValue, let entity = layout.model.entity(of: id) else {
        throw Untranslatable("it names an object of another store")
      }
      kind = .object(entity.index)
    case .list, .map, .object: throw Untranslatable("it has a list, a map or an object where a value belongs")
    }
    if writesConstants, let literal = value.literal {
      return SQLTerm(fragment: SQLFragment(literal), kind: kind, isPresent: true, constant: value)
    }
    let bound =
      kind == .decimal && dialect.decimals == .keys ? DecimalKey(value).map { .data($0.data) } ?? value : value
    return SQLTerm(fragment: SQLFragment("?", values: [bound]), kind: kind, isPresent: true, constant: value)
  }

  // MARK: Functions

  /// The call of a function: arithmetic, or a function that is registered with SQL.
  private func function(_ name: String, arguments: [Expression]) throws -> SQLTerm {
    guard let function = PredicateFunction(rawValue: name) else {
      throw Untranslatable("there is no function \(name) in SQL")
    }
    switch function {
    case .add: return try arithmetic("+", arguments: arguments)
    case .subtract: return try arithmetic("-", arguments: arguments)
    case .multiply: return try arithmetic("*", arguments: arguments)
    case .divide: return try arithmetic("/", arguments: arguments)
    default:
      try needFunctions("the function \(name)")
      guard let term = PredicateFunctions.call(function, arguments: try arguments.map { try translate($0) }) else {
        throw Untranslatable("there is no function \(name) of such arguments in SQL")
      }
      return term
    }
  }

  /// Integers divide as integers and overflow into floating-point numbers, in SQL as in memory. Throws `Untranslatable`
  /// for engines that fail on overflow.
  private func arithmetic(_ sign: String, arguments: [Expression]) throws -> SQLTerm {
    guard dialect.arithmetic == .overflowing else {
      throw Untranslatable("\(dialect.engine) would fail beyond the range of numbers")
    }
    let terms = try arguments.map { try number($0) }
    guard terms.count == 2 else { throw Untranslatable("arithmetic is of two numbers") }
    return SQLTerm(fragment: "(" + terms[0].fragment + " \(sign) " + terms[1].fragment + ")", kind: .number)
  }

  /// An operand of arithmetic. Constants are written as literals.
  private func number(_ expression: Expression) throws -> SQLTerm {
    var term = try translate(expression)
    guard term.kind == .number else { throw Untranslatable("it computes with something that is no plain number") }
    // An index of an expression is matched by its text, which has no parameters.
    if let literal = term.constant?.literal { term.fragment = SQLFragment(literal) }
    return term
  }
}
