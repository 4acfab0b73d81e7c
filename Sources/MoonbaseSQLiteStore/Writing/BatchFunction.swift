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

  /// The call.
  var sql: String { "\(name)(\(inputs.map { identifier($0.column) }.joined(separator: ", ")))" }

  /// Makes it known to a connection, in the place of one that an earlier request had there.
  func register(on connection: Connection) throws {
    try connection.register(function: name, arguments: Int32(inputs.count), traits: [.directOnly]) { call in
      try HostWork.charge()
      var row = ColumnSubject()
      for (index, input) in inputs.enumerated() {
        row.values[input.slot] = SQLValue.value(call, at: index, type: input.type)
      }
      let value: Value
      do {
        value = try attribute.checked(expression.value(row))
      } catch let error as ModelError where !error.code.endsRun {
        // The graph says of which object.
        throw BatchRefusal()
      }
      guard LargeValue.size(value) <= LargeValue.greatest else { throw BatchRefusal() }
      SQLValue.set(value, on: call)
    }
  }
}

/// A batch request does what no statement here speaks of, or cannot be done: the graph is to do it, or to say why not.
struct BatchRefusal: Error {}

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
