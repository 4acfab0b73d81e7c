/// The effect of deleting an object on the destinations of a relationship. The raw values are Core Data's.
///
/// ```swift
/// RelationshipDescription.toMany("orders", destination: "Order", inverse: "customer").onDelete(.cascade)
/// ```
public enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
  /// The destinations keep pointing at the deleted object.
  case noAction = 0
  /// The destinations' inverses no longer refer to the object.
  case nullify = 1
  /// The destinations are deleted too.
  case cascade = 2
  /// The deletion is refused while the relationship has a destination.
  case deny = 3
}

/// The effects of a rule. Each is a switch over all rules, so that the compiler names the places that a new rule needs.
extension DeleteRule {
  /// Whether a deletion needs to look at the destinations.
  package var concernsDestinations: Bool {
    switch self {
    case .nullify, .cascade, .deny: true
    case .noAction: false
    }
  }

  /// Whether the destinations are deleted too.
  package var deletesDestinations: Bool {
    switch self {
    case .cascade: true
    case .noAction, .nullify, .deny: false
    }
  }

  /// Whether the destinations' inverses no longer refer to the object.
  package var clearsInverse: Bool {
    switch self {
    case .nullify, .cascade: true
    case .noAction, .deny: false
    }
  }

  /// Whether a destination forbids the deletion.
  package var refusesDeletion: Bool {
    switch self {
    case .deny: true
    case .noAction, .nullify, .cascade: false
    }
  }

  /// Whether a destination that the deletion has not seen is a conflict. A store can clear a reference by itself, but
  /// cannot delete the object or refuse the deletion.
  package var requiresSeenDestinations: Bool { deletesDestinations || refusesDeletion }
}

extension DeleteRule {
  /// The name in a Lua model and in messages.
  public var modelName: String {
    switch self {
    case .noAction: "no_action"
    case .nullify: "nullify"
    case .cascade: "cascade"
    case .deny: "deny"
    }
  }

  /// The name in an Xcode model.
  public var xcodeName: String {
    switch self {
    case .noAction: "No Action"
    case .nullify: "Nullify"
    case .cascade: "Cascade"
    case .deny: "Deny"
    }
  }

  /// The rule of a name in a Lua model.
  public init?(modelName: String) {
    guard let rule = Self.allCases.first(where: { $0.modelName == modelName }) else { return nil }
    self = rule
  }

  /// The rule of a name in an Xcode model.
  public init?(xcodeName: String) {
    guard let rule = Self.allCases.first(where: { $0.xcodeName == xcodeName }) else { return nil }
    self = rule
  }
}

/// A relationship of an entity.
///
/// ```swift
/// let employees = RelationshipDescription.toMany("employees", destination: "Person", inverse: "department")
///   .onDelete(.cascade)
/// let department = RelationshipDescription.toOne("department", destination: "Department", inverse: "employees")
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  /// The name, unique in the entity and its ancestors.
  public var name: String
  /// The name of the entity at the other end.
  public var destinationEntityName: String
  /// The name of the inverse relationship; nil if there is none, which causes a warning.
  public var inverseName: String?
  /// Whether the relationship may be empty; true by default. A required to-many relationship needs destinations only if
  /// `minCount` is positive too: a count of 0 means undefined (relationship description, class reference).
  public var isOptional: Bool = true
  /// Whether the relationship is kept in memory only and not in stores.
  public var isTransient: Bool = false
  /// The least number of destinations; 0 means no bound.
  public var minCount: Int = 0
  /// The greatest number of destinations. 1 makes the relationship to-one; 0 or less means no bound.
  public var maxCount: Int
  /// Whether a to-many relationship keeps its destinations in order.
  public var isOrdered: Bool = false
  /// The rule for the destinations when the object is deleted.
  public var deleteRule: DeleteRule = .nullify
  /// The name in the previous version of the model; nil if the name is unchanged.
  public var renamingIdentifier: String?
  /// A text that enters the version hash, to give the relationship another hash where nothing else changes.
  public var versionHashModifier: String?
  /// Whether Spotlight indexes the relationship; kept, without effect here.
  public var isIndexedBySpotlight: Bool = false
  /// Additional values from the model's author.
  public var userInfo: [String: Value] = [:]
  /// The place in the model's file.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// Whether the relationship can have several destinations.
  public var isToMany: Bool { maxCount != 1 }

  /// Whether an object must have a destination.
  package var requiresDestination: Bool { !isOptional && (!isToMany || minCount > 0) }

  /// An optional to-one relationship with delete rule `nullify`. `required()` and `onDelete(_:)` change a copy.
  public static func toOne(_ name: String, destination: String, inverse: String? = nil) -> Self {
    Self(name: name, destinationEntityName: destination, inverseName: inverse, maxCount: 1)
  }

  /// An optional, unordered to-many relationship with delete rule `nullify`. `ordered()`, `required()` and
  /// `onDelete(_:)` change a copy.
  public static func toMany(_ name: String, destination: String, inverse: String? = nil) -> Self {
    Self(name: name, destinationEntityName: destination, inverseName: inverse, maxCount: 0)
  }

  private init(name: String, destinationEntityName: String, inverseName: String?, maxCount: Int) {
    self.name = name
    self.destinationEntityName = destinationEntityName
    self.inverseName = inverseName
    self.maxCount = maxCount
  }
}
