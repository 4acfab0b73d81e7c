import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

extension QueryTranslator {
  /// A key path through a to-many relationship, with the scope where it begins. `keys` are those after the base, with
  /// at least one to-many key among them.
  struct ToManyPath {
    var base: QueryScope
    var keys: ArraySlice<String>
  }

  /// The path of an expression with a to-many relationship and without a collection operator. Nil for other
  /// expressions. Throws `Untranslatable` for an unknown variable.
  func toManyPath(_ expression: Expression) throws -> ToManyPath? {
    guard columnTerms == nil, case .keyPath(let start, let keys) = expression,
      !keys.contains(where: { $0.hasPrefix("@") })
    else {
      return nil
    }
    let base: QueryScope
    switch start {
    case .evaluatedObject: base = current
    case .variable(let name):
      guard let scope = variables[name] else { throw Untranslatable("it names the variable $\(name)") }
      base = scope
    default: return nil
    }
    var entity = base.layout.entity
    for key in keys {
      guard let property = entity.property(key) else { return nil }
      switch property.kind {
      case .attribute: return nil
      case .toOne(let relationship): entity = layout.model.destination(of: relationship)
      case .toMany: return ToManyPath(base: base, keys: keys[...])
      }
    }
    return nil
  }

  /// `EXISTS (SELECT 1 FROM destinations WHERE linked AND condition)`, nested where the path has several to-many keys.
  ///
  /// Where several rows share an owner and the condition is the same for all of them (`isFixed`), a list of the
  /// matching owners is computed once: `owner IN (SELECT ...)`. Evaluated for each row, the time would be quadratic.
  ///
  /// `condition` receives the term at the end of the path, within the subquery.
  func exists(_ path: ToManyPath, isFixed: Bool, _ condition: (SQLTerm) throws -> SQLFragment) throws -> SQLFragment {
    let entry = try enter(path)
    entry.shareDestinations()
    let inner: SQLFragment
    if let nested = nestedPath(entry.scope, keys: entry.rest) {
      inner = try exists(nested, isFixed: isFixed, condition)
    } else {
      inner = try condition(try value(entry.rest, from: entry.scope))
    }
    return isFixed && entry.owner.isShared ? entry.list(of: inner, dialect: dialect) : entry.existence(of: inner)
  }

  /// A further to-many path within a destination; nil if the rest of the keys ends at a single value.
  private func nestedPath(_ scope: QueryScope, keys: ArraySlice<String>) -> ToManyPath? {
    var entity = scope.layout.entity
    for key in keys {
      guard let property = entity.property(key) else { return nil }
      switch property.kind {
      case .attribute: return nil
      case .toOne(let relationship): entity = layout.model.destination(of: relationship)
      case .toMany: return ToManyPath(base: scope, keys: keys)
      }
    }
    return nil
  }

  /// Follows the to-one keys and enters the first to-many relationship. Throws `Untranslatable` for a key without a
  /// place in the store.
  func enter(_ path: ToManyPath) throws -> ToManyEntry {
    var owner = path.base
    var keys = path.keys
    while let key = keys.popFirst() {
      guard let slot = owner.layout.entity.slot(key) else { throw Untranslatable("there is no \(key) in the store") }
      switch owner.layout.slots[slot] {
      case .toOne(let toOne): owner = try follow(toOne, from: owner)
      case .foreignKey(let toOne, let destination):
        return ToManyEntry(toOne, owner: owner, scope: try newScope(destination), rest: keys)
      case .join(let join):
        return ToManyEntry(join, owner: owner, scope: try newScope(join.destination), rest: keys, dialect: dialect)
      case .none, .lost, .attribute, .composite: throw Untranslatable("\(key) leads nowhere in the store")
      }
    }
    throw Untranslatable("the path has no to-many relationship")
  }

  /// A scope for a subquery's table, with a new alias.
  private func newScope(_ entity: EntityIndex) throws -> QueryScope {
    QueryScope(newAlias(), layout: try layout.layout(layout.model.entities[entity]), includesSubentities: true)
  }

  /// The scope of a to-one destination.
  private func follow(_ toOne: ToOneLayout, from scope: QueryScope) throws -> QueryScope {
    scope.follow(toOne, to: try layout.layout(layout.model.entities[toOne.destination])) { newAlias() }
  }

  // MARK: Values

  /// The value at the end of a path through to-one relationships, or a collection operator's result.
  ///
  /// For example, `["department", "name"]` gives `t1.ZNAME` after a join. An empty path is the object itself. Throws
  /// `Untranslatable` for keys without a single value in the store.
  func value(_ keys: ArraySlice<String>, from start: QueryScope) throws -> SQLTerm {
    guard let key = keys.first else {
      return SQLTerm(
        fragment: SQLFragment("\(start.alias).Z_PK"), kind: .object(start.layout.entity.index), isPresent: true)
    }
    let rest = keys.dropFirst()
    if rest.first?.hasPrefix("@") == true { return try aggregate(keys, from: start) }
    guard let slot = start.layout.entity.slot(key) else {
      if rest.isEmpty, key == "objectID" { return try value([], from: start) }
      guard rest.isEmpty else { throw Untranslatable("\(key) is not kept in the store") }
      return try derived(key, from: start)
    }
    switch start.layout.slots[slot] {
    case .attribute(let column, _):
      guard rest.isEmpty, let attribute = start.layout.entity.properties[slot].attribute else {
        throw Untranslatable("it looks into \(key), which is one value to the store")
      }
      return term(
        SQLFragment(start.column(column)), of: attribute,
        isOpaque: layout.comparedInMemory.contains(start.layout.entity.properties[slot].id))
    case .composite(let composite):
      return try element(
        rest, of: composite, from: start,
        isOpaque: layout.comparedInMemory.contains(start.layout.entity.properties[slot].id))
    case .toOne(let toOne):
      if rest.isEmpty || rest == ["objectID"] && hasNoProperty("objectID", toOne.destination) {
        return SQLTerm(fragment: SQLFragment(start.column(toOne.column)), kind: .object(toOne.destination))
      }
      return try value(rest, from: try follow(toOne, from: start))
    case .none:
      guard rest.isEmpty else { throw Untranslatable("\(key) is not kept in the store") }
      return try derived(key, from: start)
    case .lost, .foreignKey, .join: throw Untranslatable("\(key) is no single value in the store")
    }
  }

  /// The value of a composite at the end of a path. For a group of elements SQL only tests whether any has a value.
  /// `path` is the rest of the key path after the attribute.
  private func element(
    _ path: ArraySlice<String>, of composite: CompositeLayout, from start: QueryScope, isOpaque: Bool
  ) throws -> SQLTerm {
    if let leaf = composite.leaf(at: path) {
      return term(SQLFragment(start.column(leaf.column)), of: leaf.attribute, isOpaque: isOpaque)
    }
    let columns = composite.leaves(behind: path).map { dialect.ofAnyType(start.column($0.column)) }
    guard !columns.isEmpty else {
      throw Untranslatable("\(composite.attribute.name) has no element \(path.joined(separator: "."))")
    }
    return SQLTerm(fragment: SQLFragment(Self.first(columns)), kind: .opaque)
  }

  /// The first expression that is not NULL, in nested calls: a function has a limit of some hundred arguments.
  /// `COALESCE(a, b, c)`.
  private static func first(_ expressions: [String]) -> String {
    let row = 64
    if expressions.count == 1 { return expressions[0] }
    guard expressions.count > row else { return "COALESCE(\(expressions.joined(separator: ", ")))" }
    return first(
      stride(from: 0, to: expressions.count, by: row).map {
        first(Array(expressions[$0..<min($0 + row, expressions.count)]))
      })
  }

  /// A decimal, compared by its key or directly. By the dialect.
  private func decimal(_ stored: SQLFragment) -> SQLTerm {
    dialect.decimals == .keys ? .decimal(stored) : SQLTerm(fragment: stored, kind: .decimal)
  }

  /// Whether `objectID` means the ID and not a property.
  private func hasNoProperty(_ name: String, _ entity: EntityIndex) -> Bool {
    layout.model.entities[entity].slot(name) == nil
  }

  /// A column as a term, with what is known of its values. An opaque column may only be tested for NULL.
  private func term(_ stored: SQLFragment, of attribute: AttributeDescription, isOpaque: Bool) -> SQLTerm {
    let kind = isOpaque ? .opaque : SQLKind(attribute)
    if kind == .decimal { return decimal(stored) }
    let isReal = attribute.type == .double || attribute.type == .float
    return SQLTerm(
      fragment: stored, kind: kind, isReal: isReal, isSingle: attribute.type == .float,
      isInteger: kind == .number && !isReal,
      isNarrow: [.integer16, .integer32, .boolean].contains(attribute.type))
  }

  // MARK: Collection operators

  /// `friends.@count`, `friends.@sum.age` and so on, as a correlated subquery or a grouped list. Operators besides
  /// these, and operators over two to-many relationships, are left to memory.
  private func aggregate(_ keys: ArraySlice<String>, from start: QueryScope) throws -> SQLTerm {
    let path = ToManyPath(base: start, keys: keys.prefix(1))
    let entry = try enter(path)
    let scope = entry.scope
    let operation = keys.dropFirst().first ?? ""
    let rest = keys.dropFirst(2)
    if operation == "@count", rest.isEmpty {
      return SQLTerm(
        fragment: entry.aggregate(SQLFragment("COUNT(*)"), ofNone: "0", isFixed: true, dialect: dialect), kind: .number,
        isWhole: true)
    }
    guard let function = ["@sum": "SUM", "@min": "MIN", "@max": "MAX", "@avg": "AVG"][operation], !rest.isEmpty,
      nestedPath(scope, keys: rest) == nil
    else { throw Untranslatable("\(operation) is no plain operator on one relationship") }
    let element = try value(rest, from: scope)
    let isExtreme = function == "MIN" || function == "MAX"
    let orders = isExtreme && (element.kind == .date || element.kind == .decimal || element.kind == .string)
    guard element.kind == .number || orders else {
      throw Untranslatable("\(operation) of such values is not what it is in memory")
    }
    let compared = element.kind == .string ? dialect.ordered(element.fragment) : element.fragment
    let result =
      try isExtreme
      ? "\(function)(" + compared + ")"
      : sum(element, isMean: function == "AVG", of: "\(scope.layout.entity.name).\(rest.joined(separator: "."))")
    let none = function == "SUM" ? "0" : nil
    return SQLTerm(
      fragment: entry.aggregate(result, ofNone: none, isFixed: true, dialect: dialect), kind: element.kind,
      isWhole: element.isIntegral && function != "AVG", isFloating: element.isFractional || function == "AVG")
  }

  /// The sum of a column or its mean. SQLite's own sum fails where integers exceed 64 bits, so a function of this
  /// process adds 64-bit integers. A value that is no number fails the query with the name of the attribute. For
  /// integers the type of the sum shows such a value. Otherwise the type of the greatest value does, because text and
  /// bytes sort after all numbers. A sum that is NaN is NULL.
  ///
  /// `name` is the attribute in the message of a failing query. Within a derived attribute of the format (`derives`)
  /// the form is the one that Core Data writes.
  func sum(_ element: SQLTerm, isMean: Bool, of name: String) throws -> SQLFragment {
    // The results of functions and aggregates may or may not be integers.
    guard element.isReal || element.isInteger else { throw Untranslatable("it adds up what is no column") }
    let column = element.fragment.text
    if dialect.arithmetic == .checked {
      guard element.isInteger, element.isNarrow else {
        throw Untranslatable("\(dialect.engine) adds up large integers and floating-point numbers otherwise")
      }
      if isMean { return SQLFragment("CAST(SUM(\(column)) AS DOUBLE PRECISION) / NULLIF(COUNT(\(column)), 0)") }
      return SQLFragment("CASE COUNT(\(column)) WHEN 0 THEN 0 ELSE CAST(SUM(\(column)) AS BIGINT) END")
    }
    let function = element.isReal || element.isNarrow ? "SUM" : PredicateFunctions.integerSum
    let total = "\(function)(\(column)\(derives && !element.isReal ? " | 0" : ""))"
    let result =
      if isMean {
        "\(total) * 1.0 / COUNT(\(column))"
      } else if element.isReal {
        "CASE COUNT(\(column)) WHEN 0 THEN 0 ELSE \(total) END"
      } else {
        "COALESCE(\(total), 0)"
      }
    if derives { return SQLFragment(result) }
    let isDamaged =
      element.isReal
      ? "TYPEOF(MAX(\(column))) IN ('text', 'blob')" : "TYPEOF(\(total)) = '\(element.isNarrow ? "real" : "text")'"
    let quoted = name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    let tooLarge =
      function == PredicateFunctions.integerSum && !isMean
      ? " WHEN TYPEOF(\(total)) = 'real' THEN \(PredicateFunctions.sumTooLarge)('\(quoted)')" : ""
    return SQLFragment(
      "CASE WHEN \(isDamaged) THEN \(PredicateFunctions.noNumber)('\(quoted)')\(tooLarge) ELSE \(result) END")
  }

  /// `SUBQUERY(collection, $variable, predicate).@count`. The predicate's variable is a scope while its condition is
  /// translated.
  func count(_ collection: Expression, variable: String, where predicate: Predicate) throws -> SQLTerm {
    guard let path = try toManyPath(collection) else {
      throw Untranslatable("its subquery is over no to-many relationship")
    }
    let entry = try enter(path)
    guard entry.rest.isEmpty else { throw Untranslatable("its subquery is over values") }
    entry.shareDestinations()
    let isFixed = predicate.isFixed(outside: Set(variables.keys))
    let outer = variables[variable]
    variables[variable] = entry.scope
    defer { variables[variable] = outer }
    let condition = try translate(predicate)
    let count = entry.aggregate(
      SQLFragment("COUNT(*)"), ofNone: "0", where: condition, isFixed: isFixed, dialect: dialect)
    return SQLTerm(fragment: count, kind: .number, isWhole: true)
  }

  // MARK: Derived attributes

  /// The call of a script's pure function. Where a subentity overrides it, no single call fits all rows.
  ///
  /// For example `moonbase_derived_7_0(700, t0.ZFIRST, 700, t0.ZLAST)`: each input follows the raw value of its type.
  /// Throws `Untranslatable` without functions, and if an entity computes the attribute otherwise.
  private func derived(_ name: String, from scope: QueryScope) throws -> SQLTerm {
    try needFunctions("\(name), which a script computes,")
    guard let functions else { throw Untranslatable("\(name) is computed by the context") }
    let entity = scope.layout.entity
    let candidates = functions.functions.enumerated().filter { $1.name == name }
    let others = (functions.overriding[name] ?? []).compactMap(layout.model.entity)
    let owners = candidates.compactMap { index, function in
      layout.model.entity(function.entity).map { (entity: $0, index: index, function: function) }
    }
    let nearest = owners.filter { entity.isKind(of: $0.entity) }.max { $0.entity.index < $1.entity.index }
    guard let (owner, index, function) = nearest,
      !others.contains(where: { entity.isKind(of: $0) && $0.index >= owner.index })
    else { throw Untranslatable("\(name) is computed by the context") }
    let isOverridden = (owners.map(\.entity) + others).contains { $0.index != entity.index && $0.isKind(of: entity) }
    if isOverridden && scope.includesSubentities {
      throw Untranslatable("\(name) is computed otherwise in subentities")
    }
    let inputs = try function.inputs.map { try input($0, from: scope) }
    let call = DerivedFunctions.name(index, generation: functions.generation)
    let computed = "\(call)(" + inputs.joined(", ") + ")"
    // Without an object there is no value, whatever the function computes from nulls.
    let result = scope.isOptional ? "CASE WHEN \(scope.alias).Z_PK IS NOT NULL THEN " + computed + " END" : computed
    return function.type == .decimal ? decimal(result) : SQLTerm(fragment: result, kind: SQLKind(function.type))
  }

  /// An input, preceded by its type. The context evaluates derived inputs and collections. Throws `Untranslatable` for
  /// other inputs.
  private func input(_ path: String, from scope: QueryScope) throws -> SQLFragment {
    let keys = path.split(separator: ".").map(String.init)
    var entity = scope.layout.entity
    for key in keys.dropLast() {
      guard case .toOne(let relationship)? = entity.property(key)?.kind else {
        throw Untranslatable("\(path) leads through a collection")
      }
      entity = layout.model.destination(of: relationship)
    }
    guard let attribute = keys.last.flatMap({ entity.property($0) })?.attribute, !attribute.isTransient,
      attribute.type != .transformable, !attribute.allowsExternalBinaryDataStorage
    else { throw Untranslatable("\(path) is no plain attribute") }
    let term = try value(keys[...], from: scope)
    if term.kind == .opaque { throw Untranslatable("\(path) is kept otherwise than it is compared") }
    return "\(attribute.type.rawValue), " + (term.stored ?? term.fragment)
  }
}

/// `variables` are those of enclosing subqueries.
extension Predicate {
  /// Whether the predicate has the same value for every row outside, which these variables stand for.
  fileprivate func isFixed(outside variables: Set<String>) -> Bool {
    var isFixed = true
    _ = replacing { part in
      switch part {
      case .evaluatedObject: isFixed = false
      case .variable(let name) where variables.contains(name): isFixed = false
      default: break
      }
      return nil
    }
    return isFixed
  }
}
