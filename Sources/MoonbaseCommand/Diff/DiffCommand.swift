import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// `moonbase diff`: compares the objects of two stores.
///
/// The differences are rows, or with `--script` a script that changes the first store. The exit
/// status is a failure if there are differences, as with the system's `diff`.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Tells the objects that came, went and changed from one store to another.",
    discussion: """
      moonbase diff before.sqlite after.sqlite --by email

      Objects are the same where entity and key are, or with --by where these attributes have the same values. A row tells of an attribute or relationship \
      that has another value, or of an object that one store has. --script prints Lua that makes the first store equal to the second: moonbase run \
      --store before.sqlite changes.lua.

      Exit status: 0 if the stores are equal, 1 if they differ.
      """)

  @Argument(help: ArgumentHelp("The store as it was, [CONFIG=]PATH.", valueName: "store"), completion: .file())
  var old: String

  @Argument(help: ArgumentHelp("The store as it is, [CONFIG=]PATH.", valueName: "store"), completion: .file())
  var new: String

  @Option(
    help: ArgumentHelp("Attributes that tell which objects are the same, as in email or code,year.", valueName: "keys"),
    completion: .properties)
  var by: String?

  @Option(help: "Only objects of this entity, and of its subentities.", completion: .entities)
  var entity: String?

  @Flag(help: "Print Lua that makes the first store equal to the second.")
  var script = false

  @OptionGroup var output: RowOptionGroup
  @OptionGroup var file: FileOptionGroup

  /// The store as it was.
  private var oldStore: NamedStore { NamedStore(old).inProject }
  /// The store as it is.
  private var newStore: NamedStore { NamedStore(new).inProject }

  /// Checks combinations of options.
  func validate() throws {
    if by?.isEmpty == true { throw ValidationError("--by takes attributes, as in email or code,year") }
    if script, by != nil { throw ValidationError("--script knows objects by their keys: leave --by out") }
    if script, output.format != nil { throw ValidationError("--script prints Lua: leave --format out") }
  }

  /// Compares within the limits of the command.
  func run() throws {
    let isEqual = try file.limits.run { _ in try compare() }
    if !isEqual { throw ExitCode(ExitStatus.failed) }
  }

  /// Returns whether the stores are equal.
  private func compare() throws -> Bool {
    let (left, right) = (try context(oldStore), try context(newStore))
    let keys = by.map(FetchColumns.names) ?? []
    let difference = StoreDifference(from: left, to: right, keys: keys)
    let writer: any DifferenceWriter =
      script
      ? DifferenceScript(of: left.coordinator.persistentStores.first?.identifier ?? "", left.model)
      : DifferenceRows(try output.form)
    let entities = try entities(in: left, right, keys)
    tellOldProperties(of: entities, in: left.model, right.model)
    try difference.run(entities, writer)
    try writer.finish()
    return writer.count == 0
  }

  /// Reports the properties of entities that the second store does not have.
  private func tellOldProperties(of entities: [String], in left: ResolvedModel, _ right: ResolvedModel) {
    for index in entities.compactMap({ left.entity($0)?.subtree }).joined() {
      let own = left.entities[index]
      guard let other = right.entity(own.name) else { continue }
      for property in own.properties where property.isCompared && isDeclared(property, in: own, entities) {
        guard other.property(property.name).map(\.isTransient) ?? true else { continue }
        Terminal.complain("moonbase: \(own.name).\(property.name) is only in \(oldStore.name): it is not compared")
      }
    }
  }

  /// Whether this entity is the one that the message about a property names, which is the topmost compared entity.
  private func isDeclared(_ property: ResolvedProperty, in own: ResolvedEntity, _ entities: [String]) -> Bool {
    property.declaringEntity == own.index || entities.contains(own.name)
  }

  /// A context for the stored values of a store, without extensions.
  private func context(_ store: NamedStore) throws -> ManagedObjectContext {
    try ManagedObjectContext(file.coordinatorOfStoredValues(store))
  }

  /// The names of the entities that a store contains. If the store has a configuration of the model, these are not all
  /// entities.
  private static func heldEntities(of context: ManagedObjectContext) -> Set<String> {
    Set(context.coordinator.persistentStores.flatMap(\.entities).map(\.name))
  }

  /// The root entities that both stores have, or the entity that the command names. If an entity lacks the attributes
  /// of `--by`, it is left out with a message.
  private func entities(
    in left: ManagedObjectContext, _ right: ManagedObjectContext, _ keys: [String]
  ) throws -> [String] {
    if let entity {
      for model in [left.model, right.model] where model.entity(entity) == nil {
        throw GraphError.unknownEntity(entity, in: model)
      }
    }
    let (held, others) = (Self.heldEntities(of: left), Self.heldEntities(of: right))
    func tops(_ model: ResolvedModel, _ held: Set<String>) -> [String] {
      model.entities.filter { $0.parent == nil && held.contains($0.name) }.map(\.name)
    }
    let names = entity.map { [$0] } ?? tops(left.model, held)
    for name in Set(tops(right.model, others)).subtracting(names).sorted() where entity == nil {
      Terminal.complain("moonbase: \(oldStore.name) has no entity \(name): its objects are not compared")
    }
    let compared = try names.filter { name in
      let lack = !held.contains(name) ? oldStore : !others.contains(name) ? newStore : nil
      guard lack == nil, let own = left.model.entity(name), let other = right.model.entity(name) else {
        let message = "\((lack ?? newStore).name) has no entity \(name)"
        guard entity == nil else { throw GraphError(.incompatibleSchema, message: "\(message): compare another one") }
        Terminal.complain("moonbase: \(message): its objects are not compared")
        return false
      }
      guard
        let missing = keys.first(where: { own.property($0)?.attribute == nil || other.property($0)?.attribute == nil })
      else { return true }
      guard entity == nil, names.count > 1 else {
        throw GraphError.unknownProperty(missing, of: own)
      }
      Terminal.complain("moonbase: \(name) has no attribute \(missing): its objects are not compared")
      return false
    }
    guard compared.isEmpty, !names.isEmpty else { return compared }
    let known = left.model.entities.flatMap { $0.properties.filter { $0.attribute != nil }.map(\.name) }
    let hints = keys.filter { !known.contains($0) }.map { suggestion(for: $0, among: known) }.joined()
    let what = keys.isEmpty ? "both stores hold no entity together" : "no entity of both stores has \(keys.listed())"
    throw GraphError(.unknownName, message: "\(what), so that nothing is compared\(hints)")
  }
}
