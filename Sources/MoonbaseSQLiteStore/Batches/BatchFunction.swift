import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

import enum MoonbaseModel.Expression

/// A function that SQL calls with columns of a row: a function of the request, or an expression. The graph evaluates
/// the expression, so the value is the graph's.
///
/// | in SQL | returns |
/// |---|---|
/// | `MOONBASE_BATCH_n` of a row's key, entity and inputs | the new value |
/// | `MOONBASE_BATCH_n_DIFFERS` of inputs, column, entity and version | whether the value differs |
/// | `MOONBASE_BATCH_n_GIVEN` | the value that the comparison computed |
///
/// The last two are for an `UPDATE` that visits one row after the other and calls for a row's value directly after its
/// condition. Entity and version must be such as a save accepts. The second call without a value in between shows that
/// SQLite collects the rows first: `RowsAreCollected` is thrown, and nothing is written. The error is also thrown where
/// the function asks for the row's ID, for example to report a failure: only the first form receives the key.
final class BatchFunction {
  /// An attribute that the function reads.
  private struct Input {
    /// The slot of the attribute.
    let slot: Slot
    /// The column of the attribute.
    let column: String
    /// The type of the attribute.
    let type: AttributeType
  }

  /// The origin of the values.
  private enum Source {
    case expression(CompiledExpression)
    case function(BatchUpdateFunction)
  }

  /// Thrown when the statement calls for values only after it has visited all rows.
  struct RowsAreCollected: Error {}

  /// `MOONBASE_BATCH_n`, where n is the slot.
  fileprivate let name: String
  /// In the order of the function's parameters.
  private let inputs: [Input]
  /// The column that is set.
  private let column: String
  /// The expression or the function.
  private let source: Source
  /// The attribute that is set; checks the values.
  private let attribute: AttributeDescription
  /// The layout of the store, for entities of rows.
  private let layout: StoreLayout
  /// The entity that the request names. `first` is the first entity that has rows.
  private let entity: ResolvedEntity
  private let first: EntityLayout
  /// The store of the rows, for their IDs.
  private let store: StoreNumber
  /// The inputs of the current row, while the function runs.
  private let cells: UnsafeMutableBufferPointer<Snapshot.Cell>
  // For each row these are read and written: docs/development.md, "What the compiler is told".
  @exclusivity(unchecked) private var result = BatchResultCell()
  /// Whether a kept value waits for its row.
  @exclusivity(unchecked) private var isWaiting = false
  /// The number of rows that were compared.
  @exclusivity(unchecked) private(set) var count = 0
  /// The fast path of a script's function over plain values.
  fileprivate let plain: RowFunction?
  /// Checks a value by the rules over the attribute; nil without rules, or where the function checks itself.
  private let check: ((UnsafeBufferPointer<Snapshot.Cell>, Snapshot.Cell) -> Bool)?
  /// The entity number of the last row.
  @exclusivity(unchecked) private var knownNumber: Int64 = -1
  /// Whether the kept value was computed on the fast path.
  @exclusivity(unchecked) private var isPlain = false

  /// Returns nil for a function that reads more than columns, or columns whose stored form is not the value itself.
  ///
  /// Float, decimal and transformable attributes are excluded: their stored forms are not their values.
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

  /// Below SQLite's own limit for the arguments of a function.
  private static let greatestInputCount = 32

  /// The attributes that the function reads.
  var inputSlots: [Slot] { inputs.map(\.slot) }

  // MARK: In SQL

  /// The call for the new value of a row `t0`.
  var value: String { "\(name)(\(row))" }

  /// The call that compares the new value with that of a row `t0`.
  var difference: String { "\(name)_DIFFERS(\(list(askedColumns + ["Z_ENT", "Z_OPT"])))" }

  /// The call for the value that `difference` computed last.
  var given: String { "\(name)_GIVEN()" }

  /// The arguments of `value`.
  private var row: String { list(["Z_PK", "Z_ENT"] + inputs.map(\.column)) }

  /// Columns of `t0` as a list.
  fileprivate func list(_ columns: [String]) -> String {
    columns.map { "t0.\(identifier($0))" }.joined(separator: ", ")
  }

  /// The inputs, followed by the column that is set unless it is an input.
  fileprivate let askedColumns: [String]

  /// The position of the column that is set among the arguments of `difference`.
  fileprivate let columnPlace: Int

  /// The SQL functions with their numbers of arguments.
  private var names: [(name: String, arguments: Int32)] {
    [
      (name, Int32(inputs.count + Self.keyCount)), (name + "_DIFFERS", Int32(askedColumns.count + 2)),
      (name + "_GIVEN", 0),
    ]
  }

  /// The arguments before the inputs: the row's key and the number of its entity.
  private static let keyCount = 2

  /// Registers the functions on a connection.
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
      // For a damaged row the graph runs the update and names the row.
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

  /// Removes the functions from a connection, which would keep their references alive.
  func unregister(on connection: Connection) {
    for (name, arguments) in names { connection.unregister(function: name, arguments: arguments) }
  }

  // MARK: Calling

  /// Whether a row's entity and version, as stored, are such as a save accepts.
  @inline(__always)
  fileprivate func isSound(_ entity: StorageClass, _ number: Int64, _ version: StorageClass, _ count: Int64) -> Bool {
    guard entity == .integer, number == knownNumber || isKnown(number) else { return false }
    return version == .null || version == .integer && count < .max
  }

  /// Whether a number is of an entity in the table. Notes the number as known.
  private func isKnown(_ number: Int64) -> Bool {
    guard layout.entity(number: number)?.entity.root == first.entity.root else { return false }
    knownNumber = number
    return true
  }

  /// Computes the value on the fast path. Returns false where there is none, or it has no result.
  private func computeQuickly(_ call: borrowing FunctionCall) throws -> Bool {
    try HostWork.charge()
    isPlain = isAnswered { plain?.compute(call) == true }
    return isPlain
  }

  /// Whether the fast path has a valid result, for which no store was read.
  @inline(__always)
  fileprivate func isAnswered(_ compute: () -> Bool) -> Bool {
    let refusals = HostFunction.refusals
    return compute() && passesCheck && HostFunction.refusals == refusals
  }

  /// Whether the rules accept the value on the fast path.
  private var passesCheck: Bool {
    guard let check, let plain else { return true }
    for (index, input) in inputs.enumerated() { cells[index] = Snapshot.Cell(plain.cell(index), of: input.type) }
    return check(UnsafeBufferPointer(cells), Snapshot.Cell(plain.given, of: attribute.type))
  }

  /// Whether the column has another value. Throws `RowsAreCollected` where the function asks for the row's ID, for
  /// example to report a failure: only the call of `value` contains the key.
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

  /// Computes the value into `result`. Throws `BatchRefusal` for a value that the column cannot hold, and for rows that
  /// the graph has to name.
  private func compute(_ call: borrowing FunctionCall, from place: Int, _ id: () -> ManagedObjectID) throws {
    try HostWork.charge()
    for (index, input) in inputs.enumerated() {
      cells[index] = try Self.cell(call, at: index + place, type: input.type)
    }
    var fits = false
    switch source {
    case .function(let function):
      try function.call(UnsafeBufferPointer(cells), toSet: attribute, of: entity, id: id) { fits = result.set($0) }
    case .expression(let expression):
      var row = ColumnSubject()
      for (index, input) in inputs.enumerated() { row.values[input.slot] = cells[index].asValue }
      do {
        let value = try attribute.checked(expression.value(row))
        // The graph reports the division by zero.
        if value.isNull, !row.values.values.contains(.null) { throw BatchRefusal() }
        fits = result.set(.value(value))
      } catch let error as ModelError where !error.code.endsRun {
        // The graph reports the object.
        throw BatchRefusal()
      }
    }
    guard fits else { throw BatchRefusal() }
  }

  /// The ID of a row. A row of an unknown entity counts as of the first entity.
  private func id(key: Int64, entity number: Int64) -> ManagedObjectID {
    ManagedObjectID(store: store, entity: (layout.entity(number: number) ?? first).entity.symbol, key: key)
  }

  /// An argument as a row holds it. For a value whose stored form is not that of its attribute the graph runs the
  /// update, and converts the value or names the row.
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

/// Functions of one update whose values one thread computes and another writes, connected by a pipe.
///
/// Used for updates of whole tables with scripts' functions: the thread of the run reads rows and calls Lua, a second
/// thread runs the `UPDATE` statement. Both visit rows in the order of keys; a difference ends the attempt
/// (`RowPipe.Misfit`).
final class PipedFunctions {
  /// Each function with its fast path.
  private let functions: [(function: BatchFunction, plain: RowFunction)]
  /// The queue between the threads.
  let pipe: RowPipe
  /// Whether the values of the current row wait to be read.
  @exclusivity(unchecked) private var isWaiting = false
  /// The number of rows that were read from the pipe.
  @exclusivity(unchecked) private(set) var count = 0

  /// Returns nil where a function reads more of a row than columns.
  init?(_ functions: [BatchFunction]) {
    let plain = functions.compactMap { function in function.plain.map { (function, $0) } }
    guard !functions.isEmpty, plain.count == functions.count else { return nil }
    (self.functions, pipe) = (plain, RowPipe(width: functions.count))
  }

  /// The call that moves to the next row of the pipe, and returns whether the row changes.
  var difference: String { "\(nextName)(t0.Z_PK)" }

  /// The call for a function's value in the current row.
  func value(_ index: Int) -> String { "\(valueFunctionName(index))()" }

  /// The name of the function that moves to the next row.
  private var nextName: String { functions[0].function.name + "_NEXT" }
  /// The name of the function that returns a value.
  private func valueFunctionName(_ index: Int) -> String { functions[index].function.name + "_TAKEN" }

  /// The columns of rows `t0` that `compute` reads.
  var columns: String {
    let asked = functions.flatMap(\.function.askedColumns)
    return functions[0].function.list(["Z_PK", "Z_ENT", "Z_OPT"] + asked)
  }

  /// Registers the functions that read rows from the pipe on a connection.
  func register(on connection: Connection) throws {
    try connection.register(function: nextName, arguments: 1, traits: .directOnly) { [self] call in
      if isWaiting { throw RowPipe.Misfit() }
      count += 1
      isWaiting = try pipe.next(call.integer(0))
      call.set(Int64(isWaiting ? 1 : 0))
    }
    for (index, (_, plain)) in functions.enumerated() {
      try connection.register(function: valueFunctionName(index), arguments: 0, traits: .directOnly) { [self] call in
        isWaiting = false
        plain.set(pipe.value(column: index), on: call)
      }
    }
  }

  /// Removes the functions from a connection.
  func unregister(on connection: Connection) {
    connection.unregister(function: nextName, arguments: 1)
    for index in functions.indices { connection.unregister(function: valueFunctionName(index), arguments: 0) }
  }

  /// Computes the rows of a statement until its end or until the other side stops. Returns false where a function has
  /// no result for a row.
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
      // A row gets all values, unchanged ones too.
      if differs { for index in functions.indices { pipe.set(functions[index].plain.given, column: index) } }
      guard try pipe.add(statement.integer(0), differs: differs) else { return true }
    }
    try pipe.complete()
    return true
  }
}

/// Both parts are nil where a type's stored form is not the value itself.
extension BatchFunction {
  /// The fast path of expressions and functions, for types whose stored form is the value itself.
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

/// Cells as values of an expression.
extension Snapshot.Cell {
  /// A cell of a row from a plain cell of the fast path.
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

/// The columns of a row as a subject of an expression, by slot.
///
/// Reading anything else throws `BatchRefusal`; the initializer of `BatchFunction` has excluded such expressions.
private struct ColumnSubject: SlottedSubject {
  typealias Related = ColumnSubject

  /// The values of the inputs.
  var values: [Slot: Value] = [:]

  /// The row itself has no value.
  var predicateValue: Value { .null }

  /// The value of an attribute that was read from its column.
  func predicateValue(slot: Slot) throws -> Value {
    guard let value = values[slot] else { throw BatchRefusal() }
    return value
  }

  func predicateDestination(slot: Slot) throws -> ColumnSubject? { throw BatchRefusal() }
  func predicateDestinations(slot: Slot) throws -> [ColumnSubject] { throw BatchRefusal() }
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<ColumnSubject> { throw BatchRefusal() }
}

extension Expression {
  /// Collects the keys that the expression reads of the row itself. Returns false where it reads anything else.
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
