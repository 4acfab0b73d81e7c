import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// The change of a column's stored form: to another type, or between the column and files beside the store.
///
/// For example, an integer attribute that becomes a string: the column is converted row by row in SQL by a function
/// (`ColumnConversions`). Values that the new type cannot hold are counted as losses before, and become null.
struct ColumnConversion {
  /// The old entity, for messages.
  let entity: EntityLayout
  /// The old property.
  let property: ResolvedProperty
  /// The path of the composite's element that has the column; empty for other attributes.
  var element: [String] = []
  /// The old column.
  let column: String
  /// The old stored form.
  let from: ColumnKind
  /// The new stored form.
  let to: ColumnKind
  /// Between the types of the attributes.
  let conversion: AttributeConversion

  /// Returns nil for a column that stays as it is. Only attributes that both models store in a column.
  init?(_ property: ResolvedProperty, of migration: EntityMigration) {
    guard let origin = migration.origin(of: property), case .attribute(let column, let from) = origin.slot,
      case .attribute(_, let to) = migration.new.slots[property.slot],
      let source = origin.property.attributeType, let destination = property.attributeType,
      source != destination || (from == .externalData) != (to == .externalData),
      let conversion = AttributeConversion(from: source, to: destination)
    else { return nil }
    (entity, self.property, self.column) = (migration.old, origin.property, column)
    (self.from, self.to, self.conversion) = (from, to, conversion)
  }

  /// The change for an element of a composite; nil for an element that stays as it is. `leaf` is the new element, `old`
  /// the former one.
  init?(
    _ leaf: CompositeLayout.Leaf, from old: CompositeLayout.Leaf, of property: ResolvedProperty, in entity: EntityLayout
  ) {
    guard old.attribute.type != leaf.attribute.type,
      let conversion = AttributeConversion(from: old.attribute.type, to: leaf.attribute.type)
    else { return nil }
    (self.entity, self.property, column, element) = (entity, property, old.column, old.path)
    (from, to, self.conversion) = (old.kind, leaf.kind, conversion)
  }

  /// The old value of a column, which is passed with the key of its row. Throws `.invalidStore` for a value of a wrong
  /// type. External values are read from their files.
  func value(_ call: borrowing FunctionCall, external: ExternalData, path: String) throws -> Value {
    if call.isNull(0) { return .null }
    let isSound: Bool =
      switch from {
      case .integer16, .integer32, .integer64, .boolean: call.storage(0) == .integer
      case .double, .float, .date: call.storage(0) == .real || call.storage(0) == .integer
      case .decimal: call.storage(0) != .null
      case .string, .uri: call.storage(0) == .text
      case .uuid, .data, .externalData: call.storage(0) == .blob
      }
    let read = isSound ? SQLValue.value(call, at: 0, type: conversion.source) : .null
    guard !read.isNull else {
      let name = ([entity.entity.name, property.name] + element).joined(separator: ".")
      throw GraphError(
        .invalidStore,
        message:
          "\(path) is damaged: row \(call.integer(1)) of \(entity.table) has in \(column), which holds \(name), no "
          + "\(from.valueName); put it right, or set it to NULL, and migrate then",
        entity: entity.entity.name, property: property.name)
    }
    guard from == .externalData, case .data(let bytes) = read else { return read }
    let value = external.value(bytes)
    if case .object(let token) = value, let load = token.load { return .data(try load()) }
    return value
  }
}

/// The SQL functions that convert columns, one for each conversion.
///
/// An instance serves a migration or a plan. Each conversion gets a function with a number, registered on the
/// connection of the migration; the instance must live as long as statements call it.
package final class ColumnConversions {
  /// The value files written by conversions.
  private(set) var files = ExternalFiles()
  /// Reads old values and writes new ones.
  private let external: ExternalData
  /// The path of the store, for messages.
  private let path: String
  /// The number of registered functions.
  private var count = 0

  /// No functions yet.
  package init(external: ExternalData, path: String) { (self.external, self.path) = (external, path) }

  /// The SQL expression that returns whether a value cannot be converted. The expression is 1 for such a value. Nil if
  /// any value can be converted.
  func loses(_ conversion: ColumnConversion, on connection: Connection) throws -> String? {
    guard conversion.conversion.source != conversion.conversion.destination else { return nil }
    let (external, path) = (external, path)
    return try register(conversion, on: connection) { call in
      let value = try conversion.value(call, external: external, path: path)
      call.set(conversion.conversion.convert(value) == nil ? Int64(1) : 0)
    }
  }

  /// The SQL expression for the converted value; NULL if it cannot be converted. Used in the `SELECT` part of the
  /// statement that moves rows.
  func converts(_ conversion: ColumnConversion, on connection: Connection) throws -> String {
    try register(conversion, on: connection) { [unowned self] call in
      let value = conversion.conversion.convert(try conversion.value(call, external: external, path: path)) ?? .null
      try set(value, as: conversion.to, on: call)
    }
  }

  /// The stored form of a value for a column. Writes a file for a large external value.
  func stored(_ value: Value, as kind: ColumnKind) throws -> Value {
    guard kind == .externalData, case .data(let data) = value else { return value }
    return .data(try external.write(data, files: &files))
  }

  /// Sets the result of a function in the form of the column.
  private func set(_ value: Value, as kind: ColumnKind, on call: borrowing FunctionCall) throws {
    if case .decimal(let decimal) = value { return SQLValue.set(StoredDecimal(decimal), on: call) }
    SQLValue.set(try stored(value, as: kind), on: call)
  }

  /// Registers a SQL function for a conversion; returns the expression that calls it. The arguments are the column and
  /// the row's key.
  private func register(
    _ conversion: ColumnConversion, on connection: Connection, _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) throws -> String {
    count += 1
    let name = "moonbase_convert_\(count)"
    try connection.register(function: name, arguments: 2, traits: .directOnly, body)
    return "\(name)(\(identifier(conversion.column)), Z_PK)"
  }
}
