public import MoonbaseGraph
public import MoonbaseModelFormats
import MoonbaseSQLiteStore

/// The behaviour of an entity mapping for its objects (`NSEntityMigrationPolicy`).
///
/// The methods of this class do what the mapping specifies. A subclass overrides methods for different or additional
/// behaviour:
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
/// A mapping names the class of its policy (`EntityMapping.migrationPolicyClassName`), and the caller of the migration
/// passes a policy for each of these names. An error of a method ends the migration, and the store stays unchanged.
/// Objects become faults and may be released after each batch, so policies should keep IDs.
///
/// The life of a policy: `begin`, then all objects are created (`createDestinationInstances`, `endInstanceCreation`),
/// then connected (`createRelationships`, `endRelationshipCreation`), then validated (`performCustomValidation`), then
/// `end`. Each phase runs for all mappings before the next one begins. All calls come on the thread of the migration.
open class EntityMigrationPolicy {
  /// Whether the policy sets attributes whose old values do not fit their new types. Otherwise such a value ends the
  /// migration.
  package var convertsValues = false

  /// Makes a policy that follows the mappings.
  public init() {}

  /// Called before the mapping runs.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// First phase, called for each source object: makes its destination objects with their attributes, or none to omit
  /// the object. Objects of subentities have mappings of their own. Throw an error to end the migration.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard mapping.destinationEntityName != nil else { return }
    try manager.insertDestinationInstance(forSource: source, in: mapping)
  }

  /// Called after the first phase of a mapping.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Second phase, called for each destination object when all objects exist: sets its relationships. Objects that were
  /// deleted meanwhile are skipped.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.connect(destination, in: mapping)
  }

  /// Called after the second phase of a mapping.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Third phase: throws if the new objects are not as required. The rules of the model are checked afterwards for each
  /// object.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called after all phases of a mapping.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
