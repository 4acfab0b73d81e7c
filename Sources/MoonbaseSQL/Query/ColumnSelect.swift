import MoonbaseGraph
import MoonbaseModel

/// The selected values of a query in SQL: the columns after SELECT and the terms of GROUP BY.
///
/// For `{ "department.name", total = "@sum.salary" }` the columns are `t1.ZNAME` and a sum, grouped by `t1.ZNAME`. The
/// result is decoded by `forms`, column by column.
package struct ColumnSelect: Sendable {
  /// The form of a value in its result column.
  package enum Form: Sendable {
    /// The column of an attribute, decoded as in rows.
    case stored(ColumnKind)
    /// An integer or a floating-point number, as SQL computed it.
    case number
  }

  /// The form of each column.
  package fileprivate(set) var forms: [Form] = []
  /// In the order of the request.
  fileprivate(set) var columns: [SQLFragment] = []
  /// The terms after GROUP BY; empty for a result without groups.
  fileprivate(set) var groups: [SQLFragment] = []
  /// The condition on groups. Nil for all groups.
  fileprivate(set) var condition: SQLFragment?
  /// Whether a row of the result stands for several objects.
  fileprivate(set) var isGrouped = false
}

extension QueryTranslator {
  /// Throws `Untranslatable` for values that SQL would compute differently than memory does. For example, decimals are
  /// not grouped, because one number may be stored in several ways. The condition on groups (`having`) refers to
  /// columns by position.
  func translate(_ wanted: QueryColumns) throws -> ColumnSelect {
    var result = ColumnSelect()
    result.isGrouped = wanted.isGrouped || wanted.isDistinct
    for keys in wanted.rowKeys {
      let (term, _) = try column(keys)
      if term.kind == .decimal {
        throw Untranslatable("a decimal (\(keys.joined(separator: "."))) may be stored in several ways")
      }
      result.groups.append(term.kind == .string ? dialect.ordered(term.fragment) : try narrowed(term))
    }
    var terms: [SQLTerm] = []
    for column in wanted.columns {
      let (term, form) = try translate(column, in: wanted)
      result.columns.append(term.stored ?? term.fragment)
      result.forms.append(form)
      terms.append(term)
    }
    if let condition = wanted.condition {
      columnTerms = terms
      defer { columnTerms = nil }
      result.condition = try translate(condition.folded(for: root.layout.entity))
    }
    return result
  }

  /// A selected column: a count, an attribute, or an aggregate of an attribute.
  private func translate(
    _ column: QueryColumns.Column, in wanted: QueryColumns
  ) throws -> (SQLTerm, ColumnSelect.Form) {
    func number(_ fragment: SQLFragment, isMean: Bool = false) -> (SQLTerm, ColumnSelect.Form) {
      (SQLTerm(fragment: fragment, kind: .number, isWhole: !isMean, isFloating: isMean), .number)
    }
    switch column {
    case .objectCount: return number(SQLFragment("COUNT(*)"))
    case .value(let keys):
      if wanted.isGrouped, !wanted.groupKeys.contains(keys) {
        throw Untranslatable("\(keys.joined(separator: ".")) is no key of the groups")
      }
      let (term, kind) = try self.column(keys)
      return (term, .stored(kind))
    case .function(let function, let keys):
      let (term, kind) = try self.column(keys)
      switch function {
      case .count: return number("COUNT(" + (term.stored ?? term.fragment) + ")")
      case .sum, .average:
        guard term.kind == .number else { throw Untranslatable("only memory adds up \(keys.joined(separator: "."))") }
        return number(
          try sum(
            term, isMean: function == .average, of: "\(root.layout.entity.name).\(keys.joined(separator: "."))"),
          isMean: function == .average)
      case .minimum, .maximum:
        guard term.kind == .number || term.kind == .date || term.kind == .string else {
          throw Untranslatable("only memory compares \(keys.joined(separator: "."))")
        }
        let compared = term.kind == .string ? dialect.ordered(term.fragment) : term.fragment
        let extreme = (function == .minimum ? "MIN(" : "MAX(") + compared + ")"
        return (
          SQLTerm(
            fragment: extreme, kind: term.kind, isSingle: term.isSingle, isWhole: term.isIntegral,
            isFloating: term.isFractional), .stored(kind)
        )
      }
    }
  }

  /// The column that a condition on groups refers to by its position. `keys` is the position as a text, as
  /// `QueryColumns` writes it.
  func columnTerm(_ keys: [String], among terms: [SQLTerm]) throws -> SQLTerm {
    guard keys.count == 1, let place = Int(keys[0]), terms.indices.contains(place) else {
      throw Untranslatable("\(keys.joined(separator: ".")) is no column")
    }
    return terms[place]
  }

  /// An attribute at the end of a path through to-one relationships. Throws `Untranslatable` for paths through to-many
  /// relationships, and for values that SQL cannot read.
  private func column(_ keys: [String]) throws -> (SQLTerm, ColumnKind) {
    var entity = root.layout
    for (place, key) in keys.enumerated() {
      guard let slot = entity.entity.slot(key) else { break }
      switch entity.slots[slot] {
      case .attribute(_, let kind) where place == keys.count - 1:
        let term = try value(keys[...], from: root)
        if term.kind == .opaque { throw Untranslatable("\(key) is bytes that SQL makes no sense of") }
        return (term, kind)
      case .composite(let composite):
        guard let leaf = composite.leaf(at: keys[(place + 1)...]) else {
          throw Untranslatable("\(keys.joined(separator: ".")) lies in several columns")
        }
        let term = try value(keys[...], from: root)
        if term.kind == .opaque { throw Untranslatable("\(key) is kept otherwise than it is compared") }
        return (term, leaf.kind)
      case .toOne(let toOne): entity = try layout.layout(layout.model.entities[toOne.destination])
      default: throw Untranslatable("\(keys.joined(separator: ".")) is no single value in the store")
      }
    }
    throw Untranslatable("\(keys.joined(separator: ".")) is no attribute in the store")
  }
}
