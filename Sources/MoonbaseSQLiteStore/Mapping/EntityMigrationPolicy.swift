public import MoonbaseGraph
public import MoonbaseModelFormats

/// What is done with the objects of one entity mapping: `NSEntityMigrationPolicy`.
///
/// The methods of this class do what the mapping says. A subclass overrides those in which it does something else, or more:
///
/// ```swift
/// final class FullNamePolicy: EntityMigrationPolicy {
///   override func createDestinationInstances(
///     forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
///   ) throws {
///     let person = try manager.insertDestinationInstance(forSource: source, in: mapping)
///     try person.setValue(.string("\(source["first"]) \(source["last"])"), forKey: "name")
///   }
/// }
/// ```
///
/// A mapping names the class of its policy (`EntityMapping.migrationPolicyClassName`); who migrates gives a policy for each of these names. What
/// a method throws ends the migration, and the store stays as it was. Objects are let go of and turned into faults between two batches: keep IDs.
open class EntityMigrationPolicy {
  /// Whether it gives values to attributes that have none because their types cannot keep the old ones; otherwise such a value ends the migration.
  package var convertsValues = false

  /// Makes a policy that does what mappings say.
  public init() {}

  /// Before anything is done for a mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// The first phase, for each source object: makes the objects that it becomes, with their attributes. None where it is left out.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard mapping.destinationEntityName != nil else { return }
    try manager.insertDestinationInstance(forSource: source, in: mapping)
  }

  /// After the first phase of a mapping.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// The second phase, for each object that the mapping made of another: all objects are there, and it gets its destinations.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.connect(destination, in: mapping)
  }

  /// After the second phase of a mapping.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// The third phase: throws where what was made is not as it should be. The rules of the model are checked after it, object by object.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// After all of a mapping.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
