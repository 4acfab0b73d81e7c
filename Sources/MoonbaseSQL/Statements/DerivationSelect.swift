import MoonbaseGraph
package import MoonbaseModel

package import enum MoonbaseModel.Expression

/// The SQL of attributes with a derivation expression, which Core Data computes in the database when an object is
/// saved.
///
///
/// ~For `derivationExpression = "employees.salary.@sum"` the value is a correlated sum over the table of employees.
extension StoredDerivation {
  /// The statement that sets the attribute in rows of the declaring entity:
  /// `UPDATE table SET column = d.v FROM (SELECT t0.Z_PK pk, value v FROM table t0 ... WHERE t0.Z_PK IN (keys)) d ...`.
  ///
  /// `keys` is a query for the rows' keys. Only changed values are set, and with `fitting` only those that the
  /// attribute's type holds. Returns nil for another entity, and where the tables lack a column of the derivation. The
  /// model's checks warn of that. Run within a save, after the rows and links are written, for the rows that the save
  /// may have affected.
  package func update(
    of entity: EntityLayout, keys: String, fitting: Bool = false, layout: StoreLayout, dialect: Dialect
  ) -> String? {
    guard entity.entity.properties[slot].declaringEntity == entity.entity.index,
      case .attribute(let name, let kind) = entity.slots[slot],
      let select = try? select(of: entity, keys: keys, layout: layout, dialect: dialect)
    else { return nil }
    let (table, column) = (identifier(entity.table), identifier(name))
    return "UPDATE OR ABORT main.\(table) SET \(column) = d.v FROM (\(select.text)) d WHERE \(table).Z_PK = d.pk "
      + "AND \(table).\(column) IS NOT d.v" + (fitting ? " AND \(kind.holds("d.v"))" : "")
  }

  /// The query for rows whose stored value differs from the derived value, or whose derived value does not fit the
  /// attribute's type. Returns the key, both values and whether the derived value fits. Rounding differences of
  /// floating-point sums are ignored. Used by the check of a file and by migrations.
  package func differences(of entity: EntityLayout, layout: StoreLayout, dialect: Dialect) -> String? {
    let table = identifier(entity.table)
    guard entity.entity.properties[slot].declaringEntity == entity.entity.index,
      case .attribute(let name, let kind) = entity.slots[slot],
      let select = try? select(of: entity, keys: "SELECT Z_PK FROM \(table)", layout: layout, dialect: dialect)
    else { return nil }
    let column = "t.\(identifier(name))"
    return
      "SELECT d.pk, \(column), d.v, \(kind.holds("d.v")) FROM (\(select.text)) d JOIN \(table) t ON t.Z_PK = d.pk "
      + "WHERE NOT \(kind.holds("d.v")) OR \(column) IS NOT d.v AND (TYPEOF(d.v) <> 'real' OR TYPEOF(\(column)) NOT IN ('real', 'integer') "
      + "OR ABS(\(column) - d.v) > 1e-9 * ABS(d.v)) ORDER BY d.pk"
  }

  /// The query for a row whose derived value is new and does not fit the attribute's type, with that value. The save
  /// reports that value instead of storing it.
  package func misfits(of entity: EntityLayout, layout: StoreLayout, dialect: Dialect) -> String? {
    let table = identifier(entity.table)
    guard entity.entity.properties[slot].declaringEntity == entity.entity.index,
      case .attribute(let name, let kind) = entity.slots[slot],
      let select = try? select(of: entity, keys: "SELECT Z_PK FROM \(table)", layout: layout, dialect: dialect)
    else { return nil }
    return "SELECT d.pk, d.v FROM (\(select.text)) d JOIN \(table) t ON t.Z_PK = d.pk "
      + "WHERE NOT \(kind.holds("d.v")) AND t.\(identifier(name)) IS NOT d.v LIMIT 1"
  }

  /// The key of each row and its derived value. Throws `Untranslatable` for a derivation that SQL cannot express.
  private func select(
    of entity: EntityLayout, keys: String, layout: StoreLayout, dialect: Dialect
  ) throws -> SQLFragment {
    let query = StoreQuery(entity: entity.entity, in: layout.model)
    // The value is computed for each row individually, because there are few rows.
    let translator = try QueryTranslator(
      query, layout: layout, store: StoreNumber(rawValue: 0), dialect: dialect, isNarrow: true)
    translator.derives = true
    let value = try translator.value(of: self)
    var condition = "t0.Z_PK IN (\(keys))"
    if entity.entity.parent != nil {
      let kinds = layout.subtree(of: entity.entity).map { String($0.number) }
      condition += " AND t0.Z_ENT IN (\(kinds.joined(separator: ", ")))"
    }
    // Without a limit SQLite would substitute the value's term for each use, and compute it as often.
    return "SELECT t0.Z_PK pk, " + value + " v FROM \(translator.root.from) WHERE \(condition) LIMIT -1"
  }
}

extension ColumnKind {
  /// The condition that a term is a value of this kind, or NULL. For example, for 16-bit integers a whole number from
  /// -32768 to 32767.
  fileprivate func holds(_ term: String) -> String {
    func whole(_ range: ClosedRange<Int64>) -> String {
      "TYPEOF(\(term)) IN ('integer', 'real') AND \(term) = CAST(\(term) AS INTEGER) "
        + "AND \(term) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    }
    let condition =
      switch self {
      case .integer16: whole(Int64(Int16.min)...Int64(Int16.max))
      case .integer32: whole(Int64(Int32.min)...Int64(Int32.max))
      case .integer64: whole(Int64.min...Int64.max)
      case .boolean: whole(0...1)
      case .double, .float, .date: "TYPEOF(\(term)) IN ('integer', 'real')"
      // A decimal of many digits is a text in a blob. A text of few digits becomes a number in its column.
      case .decimal: "TYPEOF(\(term)) <> 'text' OR \(term) NOT GLOB '*[^-0-9.eE+]*' OR \(term) = 'NaN'"
      case .string, .uri: "TYPEOF(\(term)) = 'text'"
      case .uuid: "TYPEOF(\(term)) = 'blob' AND LENGTH(\(term)) = 16"
      case .data, .externalData: "TYPEOF(\(term)) = 'blob'"
      }
    return "(\(term) IS NULL OR \(condition))"
  }
}

extension QueryTranslator {
  /// The term of the derived value.
  fileprivate func value(of derivation: StoredDerivation) throws -> SQLFragment {
    let names = zip(derivation.path, derivation.entities).map { layout.model.entities[$1].properties[$0].name }
    let place = layout.model.entities[derivation.entities[derivation.path.count]]
    switch derivation.result {
    // Seconds since 2001, as in date columns.
    case .now: return SQLFragment("(julianday('now') - 2451910.5) * 86400.0")
    case .value(let slot, let function):
      let path = Expression.keyPath(.evaluatedObject, names + [place.properties[slot].name])
      let term = try translate(function.map { .function($0.rawValue, [path]) } ?? path)
      return term.stored ?? term.fragment
    case .collection(let slot, nil, _):
      return try translate(.keyPath(.evaluatedObject, names + [place.properties[slot].name, "@count"])).fragment
    case .collection(let slot, let element?, let function):
      let relationship = place.properties[slot]
      guard let destination = relationship.relationship.map(layout.model.destination(of:)) else {
        throw Untranslatable("\(relationship.name) is no relationship")
      }
      let attribute = destination.properties[element]
      let keys = names + [relationship.name]
      if attribute.attributeType == .decimal { return try reduce(keys, attribute.name, by: function) }
      let word = function == .average ? "@avg" : "@\(function.rawValue.dropLast())"
      return try translate(.keyPath(.evaluatedObject, keys + [word, attribute.name])).fragment
    }
  }

  /// Decimals are added up from their texts, because SQL's numbers would be rounded. `MIN`, `MAX`, sum and mean over
  /// the texts of all destinations.
  private func reduce(_ keys: [String], _ name: String, by function: PredicateFunction) throws -> SQLFragment {
    let entry = try enter(ToManyPath(base: root, keys: keys[...]))
    let element = try value([name], from: entry.scope)
    let texts = "group_concat(CAST(" + (element.stored ?? element.fragment) + " AS TEXT), ' ')"
    return entry.aggregate(
      "\(PredicateFunctions.decimalReduction)('\(function.rawValue)', " + texts + ")", isFixed: true, dialect: dialect)
  }
}
