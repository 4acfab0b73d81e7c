import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Functions given as closures.
private final class Functions: PureFunctionProvider {
  final class Instances: PureFunctionInstances {
    let bodies: [@Sendable ([Value]) throws -> Value]
    init(_ bodies: [@Sendable ([Value]) throws -> Value]) { self.bodies = bodies }
    func call(_ index: Int, inputs: [Value]) throws -> Value { try bodies[index](inputs) }
  }

  let generation: UInt64
  let functions: [PureFunction]
  let overriding: [String: Set<String>]
  let made = MadeFunctions()
  let bodies: [@Sendable ([Value]) throws -> Value]

  init(
    generation: UInt64, functions: [PureFunction], overriding: [String: Set<String>] = [:],
    bodies: [@Sendable ([Value]) throws -> Value]
  ) {
    self.generation = generation
    self.functions = functions
    self.overriding = overriding
    self.bodies = bodies
  }

  func makeFunctions() throws -> any PureFunctionInstances { Instances(bodies) }
}

/// Pure derived attributes in SQL.
@Suite struct PureFunctionTests {
  private struct Refusal: Error, Equatable {}

  private func name(_ generation: UInt64, isStrict: Bool = true, _ body: @escaping @Sendable ([Value]) throws -> Value)
    -> Functions
  {
    let function = PureFunction(
      entity: "Person", name: "fullName", inputs: ["firstName", "department.name", "born"], type: .string,
      isStrict: isStrict)
    return Functions(generation: generation, functions: [function], bodies: [body])
  }

  @Test func pureFunctionsFilterAndSortAndGetTheirInputsAsTheModelTypesThem() throws {
    let people = try PeopleStore()
    let department = try people.row("Department", ["name": "Moon"])
    let born = Value.date(Date(timeIntervalSinceReferenceDate: 5))
    let rows = try ["Ada", "Bob"].map {
      try people.row("Person", ["firstName": .string($0), "department": .objectID(department.id), "born": born])
    }
    try people.save {
      $0.inserted = RowBatch([department] + rows + [try people.row("Employee", ["firstName": "Nobody"])])
    }
    let functions = name(1) { inputs in
      guard case .string(let first) = inputs[0], case .string(let second) = inputs[1], inputs[2] == born else {
        throw Refusal()
      }
      return .string("\(first) of \(second)")
    }
    var query = people.query("Person")
    query.functions = functions
    let predicate = try Predicate(format: "fullName ENDSWITH 'of Moon'")
    #expect(try people.store.canEvaluate(predicate, for: query))
    #expect(try !people.store.canEvaluate(predicate, for: people.query("Person")))
    query.predicate = predicate
    query.sortDescriptors = [SortDescriptor("fullName", ascending: false)]
    #expect(try people.store.objectIDs(matching: query) == [rows[1].id, rows[0].id])
  }

  @Test func anErrorOfAPureFunctionComesThroughTheFetchAndTheStoreGoesOn() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person", ["firstName": "Ada"]))
    var query = people.query("Person", try Predicate(format: "fullName == 'x'"))
    query.functions = name(1, isStrict: false) { _ in throw Refusal() }
    #expect(throws: Refusal()) { try people.store.count(matching: query) }
    query.functions = name(2, isStrict: false) { _ in "x" }
    #expect(try people.store.count(matching: query) == 1)
  }

  /// SQLite keeps the name of a function as long as the connection, and the closure only while a statement may call it.
  @Test func whatWasMadeOfAGenerationGoesWithItsLastStatement() throws {
    final class Token: Sendable {}
    let people = try PeopleStore()
    for _ in 0..<3 { try people.insert(people.row("Person", ["firstName": "Ada"])) }
    weak var token: Token?
    func query(_ generation: UInt64) throws -> StoreQuery {
      let made = Token()
      token = made
      var query = people.query("Person", try Predicate(format: "fullName == 'x'"))
      query.functions = name(generation, isStrict: false) { _ in withExtendedLifetime(made) { "x" } }
      return query
    }
    // A connection that is idle afterwards.
    try {
      let query = try query(1)
      #expect(try people.store.count(matching: query) == 3)
      #expect(query.functions?.made.count == 1)
    }()
    #expect(token == nil)
    // A connection kept by a read view, with a running statement.
    let view = try people.store.beginReading(.view)
    defer { view.end() }
    var cursor: (any RowCursor)? = try view.rows(matching: query(2))
    #expect(try cursor?.next(upTo: 1).count == 1)
    #expect(try view.count(matching: query(3)) == 3)
    #expect(token == nil)
    #expect(try cursor?.next(upTo: 5).count == 2)
    try {
      let last = try query(4)
      cursor = try view.rows(matching: last)
      #expect(try cursor?.next(upTo: 1).count == 1)
    }()
    #expect(token != nil)
    cursor = nil
    #expect(token == nil)
    #expect(try view.count(matching: query(5)) == 3)
  }

  @Test func aConnectionThatIsGoneLeavesNothingWithTheGeneration() throws {
    let functions = name(1, isStrict: false) { _ in "x" }
    try {
      let people = try PeopleStore()
      var query = people.query("Person", try Predicate(format: "fullName == 'x'"))
      query.functions = functions
      #expect(try people.store.count(matching: query) == 0)
      #expect(functions.made.count == 1)
    }()
    #expect(functions.made.count == 0)
  }

  @Test func anAttributeThatASubentityOverridesIsLeftToTheContext() throws {
    let people = try PeopleStore()
    let base = name(1) { _ in .null }
    let employee = PureFunction(entity: "Employee", name: "fullName", inputs: [], type: .string, isStrict: false)
    let functions = Functions(
      generation: 1, functions: base.functions + [employee], bodies: base.bodies + [{ _ in "employee" }])
    let predicate = try Predicate(format: "fullName == 'employee'")
    var query = people.query("Person")
    query.functions = functions
    #expect(try !people.store.canEvaluate(predicate, for: query))
    query.includesSubentities = false
    #expect(try people.store.canEvaluate(predicate, for: query))
    query = people.query("Employee", predicate)
    query.functions = functions
    try people.insert(people.row("Employee"))
    #expect(try people.store.count(matching: query) == 1)
  }

  @Test func anAttributeThatASubentityComputesByNoPureFunctionIsLeftToTheContext() throws {
    let people = try PeopleStore()
    let base = name(1) { _ in .null }
    let predicate = try Predicate(format: "fullName == 'x'")
    /// Whether SQL evaluates the derived attribute for an entity, without and with its subentities.
    func isTaken(_ entity: String, overriding: String) throws -> [Bool] {
      var query = people.query(entity)
      query.functions = Functions(
        generation: 1, functions: base.functions, overriding: ["fullName": [overriding], "firstName": ["Person"]],
        bodies: base.bodies)
      return try [false, true].map {
        query.includesSubentities = $0
        return try people.store.canEvaluate(predicate, for: query)
      }
    }
    #expect(try isTaken("Person", overriding: "Employee") == [true, false])
    #expect(try isTaken("Employee", overriding: "Employee") == [false, false])
    #expect(try isTaken("Person", overriding: "Person") == [false, false])
    #expect(try isTaken("Person", overriding: "Department") == [true, true])
  }

  @Test func aFunctionHasNoValueWhereNoObjectIs() throws {
    let people = try PeopleStore()
    let department = try people.row("Department")
    let rows = try [Value.null, .objectID(department.id)].map { try people.row("Person", ["department": $0]) }
    try people.save { $0.inserted = RowBatch([department] + rows) }
    let function = PureFunction(
      entity: "Department", name: "label", inputs: ["name"], type: .string, isStrict: false)
    let functions = Functions(generation: 1, functions: [function], bodies: [{ _ in "nameless" }])
    for (text, expected) in [
      ("department.label = 'nameless'", rows[1]), ("department.label = NULL", rows[0]),
      ("NOT department.label = 'x'", rows[1]), ("department.label != NULL", rows[1]),
    ] {
      var query = people.query("Person", try Predicate(format: text))
      query.functions = functions
      #expect(try people.store.canEvaluate(#require(query.predicate), for: query))
      #expect(try people.store.objectIDs(matching: query) == [expected.id], "\(text)")
    }
    var query = people.query("Person")
    query.functions = functions
    query.sortDescriptors = [SortDescriptor("department.label", ascending: false)]
    #expect(try people.store.objectIDs(matching: query) == [rows[1].id, rows[0].id])
  }

  /// In SQL as in memory, a function is never called with a value that its attribute cannot have.
  @Test(arguments: ["ZFIRSTNAME = CAST(x'ff41' AS TEXT)", "ZFIRSTNAME = x'41'", "ZBORN = 'never'"])
  func aFunctionIsNotCalledWithWhatNoAttributeIs(_ damage: String) throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person", ["firstName": "Ada"]))
    try RawDatabase(people.folder.file()).connection.execute("UPDATE ZPERSON SET \(damage)")
    var query = people.query("Person", try Predicate(format: "fullName == 'x'"))
    query.functions = name(1, isStrict: false) { _ in "x" }
    let error = #expect(throws: GraphError.self) { try people.store.count(matching: query) }
    #expect(error?.code == .invalidStore && error?.message.contains("Person.fullName") == true, "\(error as Any)")
    #expect(error?.message.contains(damage.hasPrefix("ZBORN") ? "born" : "firstName") == true)
  }
}
