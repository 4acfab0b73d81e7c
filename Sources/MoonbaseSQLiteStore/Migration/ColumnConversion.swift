import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A column whose values are kept in another way from now on: as another type, or in files beside the store and not in it, or back.
struct ColumnConversion {
  let entity: EntityLayout
  let property: ResolvedProperty
  /// The names of the elements of a composite that lead to the column.
  var element: [String] = []
  let column: String
  let from: ColumnKind
  let to: ColumnKind
  let conversion: AttributeConversion

  /// Nil for a column that stays as it is.
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

  /// The same of an element of a composite.
  init?(
    _ leaf: CompositeLayout.Leaf, from old: CompositeLayout.Leaf, of property: ResolvedProperty, in entity: EntityLayout
  ) {
    guard old.attribute.type != leaf.attribute.type,
      let conversion = AttributeConversion(from: old.attribute.type, to: leaf.attribute.type)
    else { return nil }
    (self.entity, self.property, column, element) = (entity, property, old.column, old.path)
    (from, to, self.conversion) = (old.kind, leaf.kind, conversion)
  }

  /// The value of a column, given with the key of its row. Throws `.invalidStore` for what is no value of its type.
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

/// The functions by which SQL converts columns, one for each conversion.
final class ColumnConversions {
  /// The files of values that were written on the way.
  private(set) var files = ExternalFiles()
  private let external: ExternalData
  private let path: String
  private var count = 0

  init(external: ExternalData, path: String) { (self.external, self.path) = (external, path) }

  /// The expression that tells whether a value cannot be kept.
  func loses(_ conversion: ColumnConversion, on connection: Connection) throws -> String? {
    guard conversion.conversion.source != conversion.conversion.destination else { return nil }
    let (external, path) = (external, path)
    return try register(conversion, on: connection) { call in
      let value = try conversion.value(call, external: external, path: path)
      call.set(conversion.conversion.convert(value) == nil ? Int64(1) : 0)
    }
  }

  /// The expression for the value in its new form; NULL for what cannot be kept.
  func converts(_ conversion: ColumnConversion, on connection: Connection) throws -> String {
    try register(conversion, on: connection) { [unowned self] call in
      let value = conversion.conversion.convert(try conversion.value(call, external: external, path: path)) ?? .null
      try set(value, as: conversion.to, on: call)
    }
  }

  /// What a column holds for a value, as SQL is given it.
  func stored(_ value: Value, as kind: ColumnKind) throws -> Value {
    guard kind == .externalData, case .data(let data) = value else { return value }
    return .data(try external.write(data, files: &files))
  }

  private func set(_ value: Value, as kind: ColumnKind, on call: borrowing FunctionCall) throws {
    if case .decimal(let decimal) = value { return SQLValue.set(StoredDecimal(decimal), on: call) }
    SQLValue.set(try stored(value, as: kind), on: call)
  }

  private func register(
    _ conversion: ColumnConversion, on connection: Connection, _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) throws -> String {
    count += 1
    let name = "moonbase_convert_\(count)"
    try connection.register(function: name, arguments: 2, traits: .directOnly, body)
    return "\(name)(\(identifier(conversion.column)), Z_PK)"
  }
}
