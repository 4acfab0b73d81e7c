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
/// | `MOONBASE_BATCH_n` of a row's key, entity and inputs | the value |
/// | `MOONBASE_BATCH_n_DIFFERS` of its inputs, the column, and the row's entity and version | whether the value is another one than the column has; it is kept. The last two must be such as a save would take |
/// | `MOONBASE_BATCH_n_GIVEN` | the value that is kept |
///
/// The last two are for an `UPDATE` that takes one row after the other and asks for a row's value right behind the condition. One that
/// collects its rows first is told by the second call (`RowsAreCollected`), and nothing is written. So is one whose function fails: of which row is
/// known to the first.
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

  fileprivate let name: String
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
  // For each row these are read and written: docs/development.md, "What the compiler is told".
  @exclusivity(unchecked) private var result = BatchResultCell()
  /// Whether a row is to get what is kept.
  @exclusivity(unchecked) private var isWaiting = false
  /// How often it was asked whether a value is another one.
  @exclusivity(unchecked) private(set) var count = 0
  /// The quick way to a script's function over plain values.
  fileprivate let plain: RowFunction?
  private let check: ((UnsafeBufferPointer<Snapshot.Cell>, Snapshot.Cell) -> Bool)?
  /// The entity of the last row.
  @exclusivity(unchecked) private var knownNumber: Int64 = -1
  /// Whether what is kept came by that way.
  @exclusivity(unchecked) private var isPlain = false

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
    columnPlace = inputs.firstIndex { $0.column == column } ?? inputs.count
    askedColumns = inputs.map(\.column) + (columnPlace < inputs.count ? [] : [column])
    (plain, check) = Self.plain(value, of: inputs.map(\.type), toSet: attribute.type)
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
  var difference: String { "\(name)_DIFFERS(\(list(askedColumns + ["Z_ENT", "Z_OPT"])))" }

  /// The value of the row of which it was asked last whether it is another one.
  var given: String { "\(name)_GIVEN()" }

  private var row: String { list(["Z_PK", "Z_ENT"] + inputs.map(\.column)) }

  fileprivate func list(_ columns: [String]) -> String {
    columns.map { "t0.\(identifier($0))" }.joined(separator: ", ")
  }

  /// The inputs, and the column that is set where it is no input.
  fileprivate let askedColumns: [String]

  /// Where the column that is set stands among the arguments of the question whether it differs.
  fileprivate let columnPlace: Int

  /// The functions, with the numbers of their arguments.
  private var names: [(name: String, arguments: Int32)] {
    [
      (name, Int32(inputs.count + Self.keyCount)), (name + "_DIFFERS", Int32(askedColumns.count + 2)),
      (name + "_GIVEN", 0),
    ]
  }

  /// The arguments before the inputs: the row's key and the number of its entity.
  private static let keyCount = 2

  /// Makes it known to a connection.
  func register(on connection: Connection) throws {
    (isWaiting, count) = (false, 0)
    let (names, place, asked) = (names, columnPlace, askedColumns.count)
    try connection.register(function: names[0].name, arguments: names[0].arguments, traits: .directOnly) {
      [self] call in
      try compute(call, from: Self.keyCount) { id(key: call.integer(0), entity: call.integer(1)) }
      result.set(on: call)
    }
    try connection.register(function: names[1].name, arguments: names[1].arguments, traits: .directOnly) {
      [self] call in
      if isWaiting { throw RowsAreCollected() }
      count += 1
      // A row that is damaged is the graph's, which says which one it is.
      guard
        isSound(call.storage(asked), call.integer(asked), call.storage(asked + 1), call.integer(asked + 1))
      else { throw BatchRefusal() }
      let differs = try computeQuickly(call) ? plain?.differs(from: call, at: place) : differs(call, at: place)
      isWaiting = differs == true
      call.set(Int64(isWaiting ? 1 : 0))
    }
    try connection.register(function: names[2].name, arguments: names[2].arguments, traits: .directOnly) {
      [self] call in
      isWaiting = false
      if isPlain { plain?.set(on: call) } else { result.set(on: call) }
    }
  }

  /// Takes it away from a connection, which would keep what the function holds.
  func unregister(on connection: Connection) {
    for (name, arguments) in names { connection.unregister(function: name, arguments: arguments) }
  }

  // MARK: Calling

  /// Whether a row's entity and version, stored so, are such as a save would take.
  @inline(__always)
  fileprivate func isSound(_ entity: StorageClass, _ number: Int64, _ version: StorageClass, _ count: Int64) -> Bool {
    guard entity == .integer, number == knownNumber || isKnown(number) else { return false }
    return version == .null || version == .integer && count < .max
  }

  private func isKnown(_ number: Int64) -> Bool {
    guard layout.entity(number: number)?.entity.root == first.entity.root else { return false }
    knownNumber = number
    return true
  }

  /// False where the quick way is none, or knows no answer.
  private func computeQuickly(_ call: borrowing FunctionCall) throws -> Bool {
    try HostWork.charge()
    isPlain = isAnswered { plain?.compute(call) == true }
    return isPlain
  }

  /// Whether the quick way knows an answer that may stand, for which no store was asked.
  @inline(__always)
  fileprivate func isAnswered(_ compute: () -> Bool) -> Bool {
    let refusals = HostFunction.refusals
    return compute() && passesCheck && HostFunction.refusals == refusals
  }

  private var passesCheck: Bool {
    guard let check, let plain else { return true }
    for (index, input) in inputs.enumerated() { cells[index] = Snapshot.Cell(plain.cell(index), of: input.type) }
    return check(UnsafeBufferPointer(cells), Snapshot.Cell(plain.given, of: attribute.type))
  }

  /// Whether the column has another value; what fails is left to the way that knows of which row.
  private func differs(_ call: borrowing FunctionCall, at place: Int) throws -> Bool {
    var isRowAsked = false
    do {
      try compute(call, from: 0) {
        isRowAsked = true
        return id(key: 0, entity: 0)
      }
    } catch {
      throw isRowAsked ? RowsAreCollected() : error
    }
    return result.differs(from: call, at: place)
  }

  private func compute(_ call: borrowing FunctionCall, from place: Int, _ id: () -> ManagedObjectID) throws {
    try HostWork.charge()
    for (index, input) in inputs.enumerated() {
      cells[index] = try Self.cell(call, at: index + place, type: input.type)
    }
    var fits = false
    switch source {
    case .function(let function):
      try function.call(UnsafeBufferPointer(cells), toSet: attribute, of: entity, id: id) { fits = result.take($0) }
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

/// Functions of one update whose values one thread computes and another takes in a pipe.
final class PipedFunctions {
  private let functions: [(function: BatchFunction, plain: RowFunction)]
  let pipe: RowPipe
  /// Whether a row is to get its values.
  @exclusivity(unchecked) private var isWaiting = false
  /// How many rows were taken.
  @exclusivity(unchecked) private(set) var count = 0

  /// Nil where a function needs to know more of a row than columns.
  init?(_ functions: [BatchFunction]) {
    let plain = functions.compactMap { function in function.plain.map { (function, $0) } }
    guard !functions.isEmpty, plain.count == functions.count else { return nil }
    (self.functions, pipe) = (plain, RowPipe(width: functions.count))
  }

  /// Whether the next row of the pipe gets other values.
  var difference: String { "\(nextName)(t0.Z_PK)" }

  /// The value of a function for that row.
  func value(_ index: Int) -> String { "\(takenName(index))()" }

  private var nextName: String { functions[0].function.name + "_NEXT" }
  private func takenName(_ index: Int) -> String { functions[index].function.name + "_TAKEN" }

  /// The columns of rows `t0` that `compute` reads.
  var columns: String {
    let asked = functions.flatMap(\.function.askedColumns)
    return functions[0].function.list(["Z_PK", "Z_ENT", "Z_OPT"] + asked)
  }

  /// Makes the functions that take rows from the pipe known to a connection.
  func register(on connection: Connection) throws {
    try connection.register(function: nextName, arguments: 1, traits: .directOnly) { [self] call in
      if isWaiting { throw RowPipe.Misfit() }
      count += 1
      isWaiting = try pipe.next(call.integer(0))
      call.set(Int64(isWaiting ? 1 : 0))
    }
    for (index, (_, plain)) in functions.enumerated() {
      try connection.register(function: takenName(index), arguments: 0, traits: .directOnly) { [self] call in
        isWaiting = false
        plain.set(pipe.value(column: index), on: call)
      }
    }
  }

  /// Takes them away again.
  func unregister(on connection: Connection) {
    connection.unregister(function: nextName, arguments: 1)
    for index in functions.indices { connection.unregister(function: takenName(index), arguments: 0) }
  }

  /// Computes all rows of a statement, or as many as are taken. False where a function knows no answer for a row.
  func compute(_ statement: Statement) throws -> Bool {
    let first = functions[0].function
    while try statement.step() {
      try HostWork.charge()
      guard first.isSound(statement.storage(1), statement.integer(1), statement.storage(2), statement.integer(2)) else {
        throw BatchRefusal()
      }
      var (column, differs) = (Int32(3), false)
      for (function, plain) in functions {
        guard function.isAnswered({ plain.compute(statement, from: column) }) else { return false }
        if plain.differs(from: statement, at: column + Int32(function.columnPlace)) { differs = true }
        column += Int32(function.askedColumns.count)
      }
      // A row gets all values, also those that it has.
      if differs { for index in functions.indices { pipe.set(functions[index].plain.given, column: index) } }
      guard try pipe.add(statement.integer(0), differs: differs) else { return true }
    }
    try pipe.complete()
    return true
  }
}

extension BatchFunction {
  /// The quick way, for types whose values are plain in columns and for functions alike.
  private static func plain(
    _ value: StoreBatchRequest.NewValue, of inputs: [AttributeType], toSet type: AttributeType
  ) -> (RowFunction?, ((UnsafeBufferPointer<Snapshot.Cell>, Snapshot.Cell) -> Bool)?) {
    guard case .function(let function, _) = value, let plain = function.plain, let result = RowFunction.Kind(type)
    else { return (nil, nil) }
    let kinds = inputs.compactMap { RowFunction.Kind($0) }
    guard kinds.count == inputs.count else { return (nil, nil) }
    return (RowFunction(plain.call, of: kinds, count: plain.inputCount, result: result), plain.check)
  }
}

extension Snapshot.Cell {
  fileprivate init(_ cell: PlainCell, of type: AttributeType) {
    self =
      switch cell.kind {
      case .none: .null
      case .boolean: .bool(cell.integer != 0)
      case .integer: .int(cell.integer)
      case .number: .double(cell.number)
      case .bytes: type == .string ? .text(cell.bytes) : .data(cell.bytes)
      }
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
