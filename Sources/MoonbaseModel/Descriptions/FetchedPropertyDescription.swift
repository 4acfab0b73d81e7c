/// A property whose value is the result of a fetch. The predicate may use `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
///
/// ```swift
/// let peers = FetchedPropertyDescription(
///   "peers", FetchRequest("Person", where: try Predicate(format: "department == $FETCH_SOURCE.department")))
/// ```
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The name, unique in the entity and its ancestors.
  public var name: String
  /// The request that gives the value.
  public var fetchRequest: FetchRequest
  /// Kept from the model. Without effect, because a fetched property always has a value.
  public var isOptional: Bool = true
  /// The name in the previous version of the model; nil if the name is unchanged.
  public var renamingIdentifier: String?
  /// Additional values from the model's author. The predicate reads them as `$FETCHED_PROPERTY.userInfo.KEY`.
  public var userInfo: [String: Value] = [:]
  /// The place in the model's file.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// A fetched property with this request.
  public init(_ name: String, fetchRequest: FetchRequest) {
    self.name = name
    self.fetchRequest = fetchRequest
  }
}
