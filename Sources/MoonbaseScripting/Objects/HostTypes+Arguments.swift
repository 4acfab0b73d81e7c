import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Arguments shared by several methods of a context. The errors show what to write.
///
/// The functions throw argument errors of Lua, which name the method, the argument's number and what was passed.
extension HostTypes {
  /// The entity named by the first argument. Throws an argument error for a value that is no text, and `.unknownName`
  /// for an unknown entity.
  static func entity(of call: borrowing LuaCall, in context: ManagedObjectContext) throws -> ResolvedEntity {
    if case .bytes(let name) = call.scalar(0) {
      return try context.entity(namedLastAs: name) ?? context.entity(call.name(0))
    }
    let example = context.model.entities.first { !$0.isAbstract }.map { ", as in \"\($0.name)\"" } ?? ""
    throw call.argumentError(
      0, problem: "the name of an entity is expected, in quotes\(example), got \(call.typeName(0))")
  }

  /// A table of values by name. For example `{ name = "Ann" }`.
  static func values(of call: borrowing LuaCall, at index: Int, for entity: ResolvedEntity) throws -> LuaTable {
    if case .table(let table) = try call.value(index) { return table }
    throw valuesExpected(call, at: index, for: entity)
  }

  /// The rows of a list. Throws for a list with holes. For example, `{ { name = "Ann" }, { name = "Ben" } }`. A single
  /// row instead of a list is recognised and named in the error.
  static func rows(
    of table: LuaTable, _ call: borrowing LuaCall, at index: Int, for entity: ResolvedEntity
  ) throws -> [LuaValue] {
    let rows = try table.elements
    guard try table.size != rows.count else { return rows }
    let example = "{ \(entity.exampleOfValues), ... }"
    let isRow = try rows.isEmpty && table.pairs.contains { $0.key.textValue != nil }
    throw call.argumentError(
      index,
      problem: isRow
        ? "a list of rows is expected, as in \(example), got one row"
        : "a list of rows is expected, as in \(example), and after row \(rows.count) comes none, but other keys")
  }

  /// The error of an argument that is not a table of values.
  static func valuesExpected(_ call: borrowing LuaCall, at index: Int, for entity: ResolvedEntity) -> LuaError {
    call.argumentError(
      index,
      problem: "a table of values by name is expected, as in \(entity.exampleOfValues), got \(call.typeName(index))")
  }

  /// A list of property names. A list of texts, at least one.
  static func keys(of call: borrowing LuaCall, at index: Int, for entity: ResolvedEntity) throws -> [String] {
    let value = try call.value(index)
    let names = try value.tableValue?.elements.compactMap(\.textValue) ?? []
    if try !names.isEmpty && names.count == value.tableValue?.count {
      try names.forEach { try TextLimits.check(path: $0) }
      return names
    }
    let example = value.textValue ?? entity.exampleName
    throw call.argumentError(
      index, problem: "a list of property names is expected, as in { \"\(example)\" }, got \(call.typeName(index))")
  }

  /// Objects, given singly or in lists. Throws an argument error for values that are no objects, and if there is no
  /// argument.
  static func objects(of call: borrowing LuaCall) throws -> [ManagedObject] {
    guard call.count > 0 else { return [try object(of: call, at: 0)] }
    return try (0..<call.count).flatMap { try objects(of: call, at: $0) }
  }

  /// An object, or the objects of a list or of a to-many relationship.
  static func objects(of call: borrowing LuaCall, at index: Int) throws -> [ManagedObject] {
    let value = try call.value(index)
    if case .object(let box) = value, let members = box.object as? ToManyBox { return try members.objects() }
    guard case .table(let list) = value else { return [try object(of: call, at: index)] }
    return try list.elements.enumerated().map { place, element in
      try HostWork.charge()
      guard let object = element.objectValue(as: ManagedObject.self) else {
        throw call.argumentError(
          index, problem: "a list of objects is expected, and its element \(place + 1) is \(element.typePhrase)")
      }
      return object
    }
  }

  /// An object. Errors distinguish requests, relationships, object IDs and tables, each with its remedy.
  static func object(of call: borrowing LuaCall, at index: Int) throws -> ManagedObject {
    switch try call.value(index) {
    case .table: throw call.argumentError(index, problem: "an object is expected, got table")
    case .object(let box) where box.object is RequestBox || box.object is ToManyBox:
      throw call.argumentError(
        index,
        problem:
          "an object is expected, got \(call.typeName(index)): give the objects that its method each() walks over")
    case _ where call.typeName(index) == "object ID":
      throw call.argumentError(
        index, problem: "an object is expected, got object ID: context:object(id) gives the object")
    default: return try call.object(index, as: ManagedObject.self, name: "object")
    }
  }
}

extension ResolvedEntity {
  /// The name of a property for examples in messages.
  var exampleName: String {
    properties.first { $0.attribute?.type == .string }?.name ?? properties.first?.name ?? "name"
  }

  /// An example of a table of values, for messages.
  var exampleOfValues: String { "{ \(exampleName) = ... }" }
}
