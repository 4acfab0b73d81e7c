public import MoonbaseGraph
import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform

/// A script that says what becomes of objects when a store is migrated, with the old and the new one side by side.
///
/// ```lua
/// return {
///   Person = function(old, new, migration)
///     new.name = old.first .. " " .. old.last
///   end,
/// }
/// ```
///
/// A name is that of the older model's entity, or `PersonToHuman` for objects that become those of another entity. A function that returns false leaves the
/// object out.
public final class MigrationScript {
  /// The Lua state that it runs in.
  public let domain: ScriptDomain
  /// The name of its file.
  public let name: String
  /// What it has functions for, in the order of the names.
  public let mappingNames: [String]

  private let functions: [String: LuaFunction]
  private var handle: LuaTable?
  /// The memory of the state after its last collection here.
  private var keptMemory = 0

  /// What the script's `migration` finds: what objects became, by one mapping or by all.
  public typealias Finder = (_ source: ManagedObject, _ mapping: String?) throws -> [ManagedObject]

  /// Runs the file. Throws `ScriptError` where it does not return a table of functions, and what it raises.
  public init(_ source: ScriptSource, in domain: ScriptDomain) throws {
    (self.domain, name) = (domain, source.name)
    let environment = try domain.state.environment([:])
    let results = try domain.state.load(source.text, name: source.name, in: environment).call([])
    let table = try ReturnedTable.table(in: results, of: "a migration script") { message in
      ScriptError(.malformedFile, message: message, at: source.location(of: []))
    }
    let found = try ScriptTableReader(table: table, source: source, path: []).functions()
    functions = Dictionary(found.map { ($0.key, $0.function) }) { first, _ in first }
    mappingNames = found.map(\.key)
  }

  /// A domain for the contexts of the migration, in the same Lua state.
  public func makeRegistry(for model: ManagedObjectModel) throws -> ExtensionRegistry {
    try ScriptExtensions([], for: model).makeRegistry(in: domain)
  }

  /// Before objects are handed to it: from where they come and where they go, and how to find what became of others.
  public func begin(
    source: ManagedObjectContext, destination: ManagedObjectContext, finding find: @escaping Finder
  ) throws {
    let handle = try domain.state.table([
      "source_context": .object(domain.types.context.handle(source)),
      "destination_context": .object(domain.types.context.handle(destination)),
    ])
    try handle.set(
      "destinations",
      to: try domain.state.function(named: "destinations") { [unowned domain] call in
        try call.return(.table(try domain.list(of: Self.found(&call, find))))
      })
    try handle.set(
      "destination",
      to: try domain.state.function(named: "destination") { [unowned domain] call in
        try call.return(try Self.found(&call, find).first.map(domain.handle) ?? .nil)
      })
    self.handle = handle
  }

  private static func found(_ call: inout LuaCall, _ find: Finder) throws -> [ManagedObject] {
    try call.refuse(from: 3)
    let object = try call.object(1, as: ManagedObject.self, name: "object")
    return try find(object, try call.value(2).textValue)
  }

  /// Calls the function of a name. False where the new object is to be left out.
  public func call(_ name: String, old: ManagedObject, new: ManagedObject) throws -> Bool {
    guard let function = functions[name] else { return true }
    let migration: LuaValue = handle.map { .table($0) } ?? .nil
    let result = try function.call([domain.handle(old), domain.handle(new), migration]).first ?? .nil
    collectGarbage()
    switch result {
    case .nil: return true
    case .boolean(let stays): return stays
    default:
      throw function.mistake(
        "a migration function returns nothing, or false to leave the object out, not \(result.typePhrase)")
    }
  }

  /// Collects the texts of objects that are done. Lua by itself would wait until there are twice as many bytes.
  private func collectGarbage() {
    guard domain.state.memoryUsed > keptMemory + Self.greatestGarbage else { return }
    domain.state.collectGarbage()
    keptMemory = domain.state.memoryUsed
  }

  private static let greatestGarbage = 32 << 20

  /// The migration is over: the script keeps nothing of it.
  public func end() { handle = nil }
}
