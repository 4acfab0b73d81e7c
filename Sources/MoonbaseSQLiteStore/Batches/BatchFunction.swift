import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

import enum MoonbaseModel.Expression

/// An expression over columns of a row, which SQL calls and the graph's own evaluation answers: so it gives what the graph would have.
struct BatchFunction {
  private struct Input {
    let slot: Slot
    let column: String
    let type: AttributeType
  }

  private let name: String
  private let inputs: [Input]
  private let expression: CompiledExpression
  private let attribute: AttributeDescription

  /// Nil for an expression that reads more than columns, or such in which values do not lie as they are.
  init?(_ expression: Expression, slot: Slot, of layout: EntityLayout, in model: ResolvedModel) throws {
    var keys: Set<String> = []
    guard let attribute = layout.entity.properties[slot].attribute, expression.collectColumns(into: &keys) else {
      return nil
    }
    var inputs: [Input] = []
    for key in keys.sorted() {
      guard let property = layout.entity.property(key), let type = property.attribute?.type,
        ![.float, .decimal, .transformable].contains(type),
        case .attribute(let column, let kind) = layout.slots[property.slot]
      else { return nil }
      if case .externalData = kind { return nil }
      inputs.append(Input(slot: property.slot, column: column, type: type))
    }
    guard inputs.count <= Self.greatestInputCount else { return nil }
    (self.inputs, self.attribute) = (inputs, attribute)
    self.expression = try CompiledExpression(expression, entity: layout.entity, in: model)
    name = "MOONBASE_BATCH_\(slot)"
  }

  /// SQLite takes some more.
  private static let greatestInputCount = 32

  var inputSlots: [Slot] { inputs.map(\.slot) }

  /// The call, of a row `t0`.
  var sql: String { "\(name)(\(inputs.map { "t0.\(identifier($0.column))" }.joined(separator: ", ")))" }

  /// Makes it known to a connection, in the place of one that an earlier request had there.
  func register(on connection: Connection) throws {
    try connection.register(function: name, arguments: Int32(inputs.count), traits: [.directOnly]) { call in
      try HostWork.charge()
      var row = ColumnSubject()
      for (index, input) in inputs.enumerated() {
        row.values[input.slot] = try Self.value(call, at: index, type: input.type)
      }
      let value: Value
      do {
        value = try attribute.checked(expression.value(row))
      } catch let error as ModelError where !error.code.endsRun {
        // The graph says of which object.
        throw BatchRefusal()
      }
      // So it looks where something was divided by zero, which the graph tells.
      if value.isNull, !row.values.values.contains(.null) { throw BatchRefusal() }
      guard LargeValue.size(value) <= LargeValue.greatest else { throw BatchRefusal() }
      SQLValue.set(value, on: call)
    }
  }
}

extension BatchFunction {
  /// An argument as a row has it. What lies otherwise in its column than the attribute's values do is the graph's, which takes it or says in
  /// which row it is wrong.
  private static func value(_ call: borrowing FunctionCall, at index: Int, type: AttributeType) throws -> Value {
    let storage = call.storage(index)
    let isUsual =
      switch type {
      case _ where storage == .null: true
      case .integer16: storage == .integer && Int16(exactly: call.integer(index)) != nil
      case .integer32: storage == .integer && Int32(exactly: call.integer(index)) != nil
      case .integer64: storage == .integer
      case .boolean: storage == .integer && (0...1).contains(call.integer(index))
      case .double, .date: storage == .real || storage == .integer
      case .string: storage == .text && call.withText(index) { UnsafeRawBufferPointer($0).isUTF8 }
      case .uri: storage == .text && URL(string: call.text(index))?.absoluteString == call.text(index)
      case .binaryData: storage == .blob
      case .uuid: storage == .blob && call.data(index).count == 16
      case .float, .decimal, .transformable, .undefined, .objectID, .composite: false
      }
    guard isUsual else { throw BatchRefusal() }
    return SQLValue.value(call, at: index, type: type)
  }
}

/// The columns of a row, by slot.
private struct ColumnSubject: SlottedSubject {
  typealias Related = ColumnSubject

  var values: [Slot: Value] = [:]

  var predicateValue: Value { .null }

  func predicateValue(slot: Slot) throws -> Value {
    guard let value = values[slot] else { throw BatchRefusal() }
    return value
  }

  func predicateDestination(slot: Slot) throws -> ColumnSubject? { throw BatchRefusal() }
  func predicateDestinations(slot: Slot) throws -> [ColumnSubject] { throw BatchRefusal() }
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<ColumnSubject> { throw BatchRefusal() }
}

extension Expression {
  /// Notes the keys that it reads of the row itself; false where it reads anything else.
  fileprivate func collectColumns(into keys: inout Set<String>) -> Bool {
    switch self {
    case .constant: return true
    case .keyPath(.evaluatedObject, let path):
      keys.insert(path[0])
      return path.count == 1
    case .function(_, let arguments): return arguments.allSatisfy { $0.collectColumns(into: &keys) }
    default: return false
    }
  }
}
