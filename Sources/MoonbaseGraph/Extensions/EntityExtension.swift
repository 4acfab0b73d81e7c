public import MoonbaseModel

/// Rules and hooks for the objects of one entity and its subentities: the seam that a closure or a script fills.
///
/// Every hook is optional. An extension is confined to the context whose registry made it. Hooks that throw fail what called
/// them, a save for example.
///
/// ```swift
/// var person = EntityExtension()
/// person.validate["age"] = { age, _ in age == 0 ? .init("is not credible") : nil }
/// person.willSave = { person in try person.setPrimitiveValue(.date(Date()), forKey: "changed") }
/// ```
public struct EntityExtension {
  /// Something done with an object.
  public typealias Hook = (ManagedObject) throws -> Void
  /// A rule over a value that is never `.null`: returns what is wrong with it, or nil. The subject says whose value it is, which
  /// one it had when it was saved last, and why the rule is asked.
  public typealias Rule = (Value, ValidationContext) throws -> ValidationIssue?
  /// A method of objects: gets the arguments and the object, and gives its result; `.null` for none.
  public typealias Method = (_ arguments: [Value], _ object: ManagedObject) throws -> Value
  /// A rule over a value that is there, and over nothing else.
  package struct ValueRule {
    /// Whether the value is as the rule wants it.
    package let holds: (Snapshot.Cell) throws -> Bool
    /// What the maker of the rule knows it by, who may have a quicker way to ask it.
    package let origin: AnyObject?

    package init(origin: AnyObject? = nil, holds: @escaping (Snapshot.Cell) throws -> Bool) {
      (self.origin, self.holds) = (origin, holds)
    }
  }

  /// The quick form of a rule, which is asked of a cell.
  package struct QuickRule {
    /// True where nothing is wrong with the cell. Else the rule itself is asked, and says what is.
    package let holds: (RawCell, ManagedObject) throws -> Bool

    package init(_ holds: @escaping (RawCell, ManagedObject) throws -> Bool) { self.holds = holds }
  }

  /// By attribute: changes a value before all rules.
  public var normalize: [String: (Value, ManagedObject) throws -> Value] = [:]
  /// By property: checks a value.
  public var validate: [String: Rule] = [:]
  /// By property: of the rules in `validate` those that look at nothing but the value, in a form that needs no object. They say whether nothing
  /// is wrong with it. A store may ask them of rows that it changes by itself.
  package var valueRules: [String: ValueRule] = [:]
  /// By attribute: of the rules in `validate` those that have a quick form.
  package var quickRules: [String: QuickRule] = [:]
  /// Checks a new object as a whole.
  public var validateForInsert: ((ManagedObject) throws -> ValidationIssue?)?
  /// Checks a changed object as a whole.
  public var validateForUpdate: ((ManagedObject) throws -> ValidationIssue?)?
  /// Checks whether an object may go.
  public var validateForDelete: ((ManagedObject) throws -> ValidationIssue?)?
  /// Derived attributes.
  public var derived: [DerivedAttribute] = []
  /// Derived attributes that are stored: before each save their values are computed and written, where something changed that
  /// they were computed from or that their `inputs` lead to.
  public var stored: [DerivedAttribute] = []
  /// Methods of objects by name, for `ManagedObject.call` and for scripts. The method of a subentity goes before a
  /// method of the same name above it. On a handle of a script a property goes before a method.
  public var methods: [String: Method] = [:]
  /// By method: the key by which its maker finds it, for a quicker way to call it.
  package var methodOrigins: [String: AnyObject] = [:]
  /// After defaults are set, once in an object's life.
  public var awakeFromInsert: Hook?
  /// After a fault fired. Changes made here are not tracked.
  public var awakeFromFetch: Hook?
  /// After many values were replaced at once, by a rollback, a refresh or an undo. Changes made here are not tracked.
  public var awakeFromSnapshotEvents: ((ManagedObject, SnapshotEventType) throws -> Void)?
  /// Before a save, again while it changes objects.
  public var willSave: Hook?
  /// After a save. An object whose deletion was saved still has its values, and `isDeleted` is true.
  public var didSave: Hook?
  /// At each call that deletes the object.
  public var prepareForDeletion: Hook?
  /// Before the object becomes a fault.
  public var willTurnIntoFault: Hook?
  /// After the object became a fault.
  public var didTurnIntoFault: Hook?

  /// Makes an extension without hooks.
  public init() {}
}
