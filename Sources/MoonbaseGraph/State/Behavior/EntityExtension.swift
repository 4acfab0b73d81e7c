public import MoonbaseModel

/// Rules and hooks for the objects of one entity and its subentities, filled by a closure or a script.
///
/// Every hook is optional. An extension is confined to the context whose registry made it. An error of a hook fails the
/// call that ran the hook, for example a save.
///
/// ```swift
/// var person = EntityExtension()
/// person.validate["age"] = { age, _ in age == 0 ? .init("is not credible") : nil }
/// person.willSave = { person in try person.setPrimitiveValue(.date(Date()), forKey: "changed") }
/// ```
public struct EntityExtension {
  /// A function that is called with an object at one point of its life.
  public typealias Hook = (ManagedObject) throws -> Void
  /// A rule over a value that is never `.null`: returns an issue, or nil for a valid value.
  ///
  /// The context names the object, the value that was saved last and the reason of the check.
  public typealias Rule = (Value, ValidationContext) throws -> ValidationIssue?
  /// A method of objects: receives arguments and the object, and returns a result, `.null` without one.
  public typealias Method = (_ arguments: [Value], _ object: ManagedObject) throws -> Value
  /// A rule that reads nothing but a value, which is never null.
  package struct ValueRule {
    /// Whether the value is valid.
    package let holds: (Snapshot.Cell) throws -> Bool
    /// Identifies the rule to its maker, which may evaluate the rule faster.
    package let origin: AnyObject?

    /// Makes a rule over values.
    package init(origin: AnyObject? = nil, holds: @escaping (Snapshot.Cell) throws -> Bool) {
      (self.origin, self.holds) = (origin, holds)
    }
  }

  /// The quick form of a rule, evaluated on the raw cell.
  package struct QuickRule {
    /// Whether the cell is valid. If not, the full rule runs and describes the issue.
    package let holds: (RawCell, ManagedObject) throws -> Bool

    /// Makes the quick form of a rule.
    package init(_ holds: @escaping (RawCell, ManagedObject) throws -> Bool) { self.holds = holds }
  }

  /// By attribute: functions that change a value before all rules.
  public var normalize: [String: (Value, ManagedObject) throws -> Value] = [:]
  /// By property: rules that check a value.
  public var validate: [String: Rule] = [:]
  /// By property: the rules of `validate` that read only the value and need no object.
  ///
  /// A store may evaluate them for rows that it changes without objects.
  package var valueRules: [String: ValueRule] = [:]
  /// By attribute: the quick forms of rules in `validate`, where they have one.
  package var quickRules: [String: QuickRule] = [:]
  /// Checks a new object as a whole.
  public var validateForInsert: ((ManagedObject) throws -> ValidationIssue?)?
  /// Checks a changed object as a whole.
  public var validateForUpdate: ((ManagedObject) throws -> ValidationIssue?)?
  /// Checks whether an object may be deleted.
  public var validateForDelete: ((ManagedObject) throws -> ValidationIssue?)?
  /// Derived attributes that are computed when read.
  public var derived: [DerivedAttribute] = []
  /// Derived attributes that are stored: a save computes and writes a value after a value it was computed from, or a
  /// value at the end of one of its `inputs`, changed.
  public var stored: [DerivedAttribute] = []
  /// Methods of objects by name, for `ManagedObject.call` and for scripts.
  ///
  /// A subentity's method overrides the ancestors' method of the same name. On an object in a script, a property has
  /// precedence over a method.
  public var methods: [String: Method] = [:]
  /// By method: identifies a method to its maker, which may call the method faster.
  package var methodOrigins: [String: AnyObject] = [:]
  /// Called once in an object's life, after its defaults are set.
  public var awakeFromInsert: Hook?
  /// Called after a fault fired. Changes made here are not tracked.
  public var awakeFromFetch: Hook?
  /// Called after a rollback, a refresh or an undo replaced values. Changes made here are not tracked.
  public var awakeFromSnapshotEvents: ((ManagedObject, SnapshotEventType) throws -> Void)?
  /// Called before a save, and again as long as it changes objects.
  public var willSave: Hook?
  /// Called after a save. An object whose deletion was saved still has its values, and `isDeleted` is true.
  public var didSave: Hook?
  /// Called at each call that deletes the object.
  public var prepareForDeletion: Hook?
  /// Called before the object becomes a fault.
  public var willTurnIntoFault: Hook?
  /// Called after the object became a fault.
  public var didTurnIntoFault: Hook?

  /// Makes an extension without hooks.
  public init() {}
}
