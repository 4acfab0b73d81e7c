public import MoonbaseGraph
import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform

/// A script that transforms objects during a migration, with access to the old and the new store.
///
/// ```lua
/// return {
///   Person = function(old, new, migration)
///     new.name = old.first .. " " .. old.last
///   end,
/// }
/// ```
///
/// The names are entities of the older model, or `PersonToHuman` for objects that change their entity. A function that
/// returns false omits the object.
///
/// The script runs within the transaction of the migration: an error of a function undoes the whole migration. Confined
/// to the thread of the migration; `begin` comes before the first call and `end` after the last one.
public final class MigrationScript {
  /// The Lua state of the script.
  public let domain: ScriptDomain
  /// The name of the script's file.
  public let name: String
  /// The names of the mappings that have functions, sorted.
  public let mappingNames: [String]

  /// The functions by mapping name.
  private let functions: [String: LuaFunction]
  /// The table passed as `migration`; nil outside of `begin` and `end`.
  private var handle: LuaTable?
  /// The memory of the state after the last garbage collection here.
  private var keptMemory = 0

  /// Finds the new objects made from an old object, by a mapping or by all mappings. Used by the script's `migration`.
  ///
  /// `mapping` is a name as in `mappingNames`; nil searches all mappings. The result is empty for an object that was
  /// left out.
  public typealias Finder = (_ source: ManagedObject, _ mapping: String?) throws -> [ManagedObject]

  /// Runs the file. Throws `ScriptError` if it does not return a table of functions, and errors that the file raises.
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

  /// A registry for the contexts of the migration, in the same Lua state. The contexts have no extensions of their own;
  /// the script sees their objects through the same types.
  public func makeRegistry(for model: ManagedObjectModel) throws -> ExtensionRegistry {
    try ScriptExtensions([], for: model).makeRegistry(in: domain)
  }

  /// Prepares the calls with the source and destination contexts and the finder of new objects.
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

  /// The new objects for the arguments of `migration:destination(object, mapping)`.
  private static func found(_ call: inout LuaCall, _ find: Finder) throws -> [ManagedObject] {
    try call.refuse(from: 3)
    let object = try call.object(1, as: ManagedObject.self, name: "object")
    return try find(object, try call.value(2).textValue)
  }

  /// Calls the function of a mapping. Returns false if the new object is to be omitted. Returns true for a mapping
  /// without a function. Throws `.invalidRequest` for results other than a boolean or nothing.
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

  /// Collects the texts of processed objects. Lua's own collection would wait until the memory has doubled.
  private func collectGarbage() {
    guard domain.state.memoryUsed > keptMemory + Self.greatestGarbage else { return }
    domain.state.collectGarbage()
    keptMemory = domain.state.memoryUsed
  }

  /// In bytes. A collection of less garbage would cost more time than it saves memory.
  private static let greatestGarbage = 32 << 20

  /// Releases the references to the migration.
  public func end() { handle = nil }
}
