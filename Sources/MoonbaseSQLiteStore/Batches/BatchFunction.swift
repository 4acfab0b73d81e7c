import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

import enum MoonbaseModel.Expression

/// A function over columns of a row that SQL calls: one of the request's own, or an expression, which the graph's own evaluation answers, so that it
/// gives what the graph would have.
///
/// | in SQL | gives |
/// |---|---|
/// | `MOONBASE_BATCH_n` of a row | the value |
/// | `MOONBASE_BATCH_n_DIFFERS` of a row | whether the value is another one than the column has; it is kept |
/// | `MOONBASE_BATCH_n_GIVEN` of the key of that row | the value that is kept |
///
/// The last two are for an `UPDATE` that takes one row after the other and asks for a row's value right behind the condition. One that
/// collects its rows first is told by the second call (`RowsAreCollected`), and nothing is written.
final class BatchFunction {
  private struct Input {
    let slot: Slot
    let column: String
    let type: AttributeType
  }

  private enum Source {
    case expression(CompiledExpression)
    case function(BatchUpdateFunction)
  }

  /// The statement asks for the values of rows when it has looked at all of them.
  struct RowsAreCollected: Error {}

  private let name: String
  private let inputs: [Input]
  private let column: String
  private let source: Source
  private let attribute: AttributeDescription
  private let layout: StoreLayout
  /// The entity that the request names, and the first that has rows.
  private let entity: ResolvedEntity
  private let first: EntityLayout
  private let store: StoreNumber
  /// What a row has, while the function runs.
  private let cells: UnsafeMutableBufferPointer<Snapshot.Cell>
  private var result = BatchResultCell()
  /// The key of the row that is to get what is kept.
  private var waiting: Int64?
  /// How often it was asked whether a value is another one.
  private(set) var count = 0

  /// Nil for one that reads more than columns, or such in which values do not lie as they are.
  init?(_ value: StoreBatchRequest.NewValue, slot: Slot, column: String, of rows: BatchRows) throws {
    let (kind, store) = (rows.kinds[0], rows.store)
    guard let attribute = kind.entity.properties[slot].attribute else { return nil }
    let slots: [Slot]
    switch value {
    case .function(let function, let inputs): (source, slots) = (.function(function), inputs)
    case .expression(let expression):
      var keys: Set<String> = []
      guard expression.collectColumns(into: &keys) else { return nil }
      slots = keys.compactMap { kind.entity.property($0)?.slot }.sorted()
      guard slots.count == keys.count else { return nil }
      source = .expression(try CompiledExpression(expression, entity: kind.entity, in: store.layout.model))
    }
    var inputs: [Input] = []
    for slot in slots {
      guard let type = kind.entity.properties[slot].attribute?.type,
        ![.float, .decimal, .transformable].contains(type), case .attribute(let column, let form) = kind.slots[slot]
      else { return nil }
      if case .externalData = form { return nil }
      inputs.append(Input(slot: slot, column: column, type: type))
    }
    guard inputs.count <= Self.greatestInputCount else { return nil }
    (self.inputs, self.attribute, self.column, first) = (inputs, attribute, column, kind)
    (layout, self.store, entity) = (store.layout, StoreNumber(store.identifier), rows.query.entity)
    name = "MOONBASE_BATCH_\(slot)"
    cells = .allocate(capacity: inputs.count)
    cells.initialize(repeating: .null)
  }

  deinit {
    cells.deinitialize()
    cells.deallocate()
  }

  /// SQLite takes some more.
  private static let greatestInputCount = 32

  var inputSlots: [Slot] { inputs.map(\.slot) }

  // MARK: In SQL

  /// The value of a row `t0`.
  var value: String { "\(name)(\(row))" }

  /// Whether that is another one than a row `t0` has.
  var difference: String { "\(name)_DIFFERS(\(row), t0.\(identifier(column)))" }

  /// The value of the row `t0` of which it was asked last whether it is another one.
  var given: String { "\(name)_GIVEN(t0.Z_PK)" }

  private var row: String {
    (["Z_PK", "Z_ENT"] + inputs.map(\.column)).map { "t0.\(identifier($0))" }.joined(separator: ", ")
  }

  /// The functions, with the numbers of their arguments.
  private var names: [(name: String, arguments: Int32)] {
    let row = Int32(inputs.count + Self.keyCount)
    return [(name, row), (name + "_DIFFERS", row + 1), (name + "_GIVEN", 1)]
  }

  /// The arguments before the inputs: the row's key and the number of its entity.
  private static let keyCount = 2

  /// Makes it known to a connection.
  func register(on connection: Connection) throws {
    (waiting, count) = (nil, 0)
    let names = names
    try connection.register(function: names[0].name, arguments: names[0].arguments, traits: .directOnly) {
      [self] call in
      try compute(call)
      result.set(on: call)
    }
    try connection.register(function: names[1].name, arguments: names[1].arguments, traits: .directOnly) {
      [self] call in
      if waiting != nil { throw RowsAreCollected() }
      count += 1
      try compute(call)
      let differs = result.differs(from: call, at: inputs.count + Self.keyCount)
      if differs { waiting = call.integer(0) }
      call.set(Int64(differs ? 1 : 0))
    }
    try connection.register(function: names[2].name, arguments: names[2].arguments, traits: .directOnly) {
      [self] call in
      guard waiting == nil || waiting == call.integer(0) else { throw RowsAreCollected() }
      waiting = nil
      result.set(on: call)
    }
  }

  /// Takes it away from a connection, which would keep what the function holds.
  func unregister(on connection: Connection) {
    for (name, arguments) in names { connection.unregister(function: name, arguments: arguments) }
  }

  // MARK: Calling

  private func compute(_ call: borrowing FunctionCall) throws {
    try HostWork.charge()
    for (index, input) in inputs.enumerated() {
      cells[index] = try Self.cell(call, at: index + Self.keyCount, type: input.type)
    }
    var fits = false
    switch source {
    case .function(let function):
      let (key, number) = (call.integer(0), call.integer(1))
      try function.call(
        UnsafeBufferPointer(cells), toSet: attribute, of: entity, id: { id(key: key, entity: number) }
      ) { fits = result.take($0) }
    case .expression(let expression):
      var row = ColumnSubject()
      for (index, input) in inputs.enumerated() { row.values[input.slot] = cells[index].asValue }
      do {
        let value = try attribute.checked(expression.value(row))
        // The graph tells where something was divided by zero.
        if value.isNull, !row.values.values.contains(.null) { throw BatchRefusal() }
        fits = result.take(.value(value))
      } catch let error as ModelError where !error.code.endsRun {
        // The graph says of which object.
        throw BatchRefusal()
      }
    }
    guard fits else { throw BatchRefusal() }
  }

  private func id(key: Int64, entity number: Int64) -> ManagedObjectID {
    ManagedObjectID(store: store, entity: (layout.entity(number: number) ?? first).entity.symbol, key: key)
  }

  /// An argument as a row has it. What lies otherwise in its column than the attribute's values do is the graph's, which takes it or says in
  /// which row it is wrong.
  private static func cell(
    _ call: borrowing FunctionCall, at index: Int, type: AttributeType
  ) throws -> Snapshot.Cell {
    switch (type, call.storage(index)) {
    case (_, .null): return .null
    case (.string, .text):
      let text = call.keptText(index)
      if text.isUTF8 { return .text(text) }
    case (.binaryData, .blob): return .data(call.keptBytes(index))
    case (.integer64, .integer): return .int(call.integer(index))
    case (.integer32, .integer):
      if let number = Int32(exactly: call.integer(index)) { return .int(Int64(number)) }
    case (.integer16, .integer):
      if let number = Int16(exactly: call.integer(index)) { return .int(Int64(number)) }
    case (.boolean, .integer):
      let number = call.integer(index)
      if (0...1).contains(number) { return .bool(number != 0) }
    case (.double, .real), (.double, .integer): return .double(call.double(index))
    case (.date, .real), (.date, .integer): return .date(call.double(index))
    case (.uri, .text):
      let text = call.text(index)
      if let uri = URL(string: text), uri.absoluteString == text { return .value(.uri(uri)) }
    case (.uuid, .blob):
      let bytes = call.keptBytes(index)
      if bytes.count == 16 { return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))) }
    default: break
    }
    throw BatchRefusal()
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
