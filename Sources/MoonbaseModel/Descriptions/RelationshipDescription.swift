/// What happens to the other side of a relationship when an object is deleted. Raw values are Core Data's.
///
/// ```swift
/// RelationshipDescription.toMany("orders", destination: "Order", inverse: "customer").onDelete(.cascade)
/// ```
public enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
  /// Nothing: the other side keeps pointing at the deleted object.
  case noAction = 0
  /// The other side forgets the object.
  case nullify = 1
  /// The other side is deleted too.
  case cascade = 2
  /// The deletion is refused while there is another side.
  case deny = 3
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
/// let employees = RelationshipDescription.toMany("employees", destination: "Person", inverse: "department").onDelete(.cascade)
/// let department = RelationshipDescription.toOne("department", destination: "Department", inverse: "employees")
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  /// The name, unique in the entity and its ancestors.
  public var name: String
  /// The name of the entity at the other end.
  public var destinationEntityName: String
  /// The name of the relationship that points back; nil where there is none (worth a warning).
  public var inverseName: String?
  /// Whether there may be no destination; true unless said otherwise. A to-many relationship needs one only if
  /// `minCount` says so too: a count of 0 means undefined (relationship description, class reference).
  public var isOptional: Bool = true
  /// Whether the relationship is kept in memory only.
  public var isTransient: Bool = false
  /// The least number of destinations, 0 for no bound.
  public var minCount: Int = 0
  /// The greatest number of destinations: 1 makes it to-one, 0 or less means no bound.
  public var maxCount: Int
  /// Whether a to-many relationship keeps its destinations in order.
  public var isOrdered: Bool = false
  /// What a deletion does to the other side.
  public var deleteRule: DeleteRule = .nullify
  /// The name in the previous version of the model.
  public var renamingIdentifier: String?
  /// Changes the version hash where nothing else does.
  public var versionHashModifier: String?
  /// Whether Spotlight indexes the relationship; kept, without effect here.
  public var isIndexedBySpotlight: Bool = false
  /// Whatever the model's author attached.
  public var userInfo: [String: Value] = [:]
  /// Where the relationship was written.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// Whether there can be several destinations.
  public var isToMany: Bool { maxCount != 1 }

  /// Whether an object must have a destination.
  package var requiresDestination: Bool { !isOptional && (!isToMany || minCount > 0) }

  /// An optional to-one relationship that nullifies.
  public static func toOne(_ name: String, destination: String, inverse: String? = nil) -> Self {
    Self(name: name, destinationEntityName: destination, inverseName: inverse, maxCount: 1)
  }

  /// An optional, unordered to-many relationship that nullifies.
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
