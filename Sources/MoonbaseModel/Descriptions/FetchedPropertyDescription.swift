/// A property whose value is the result of a fetch. Its predicate may use `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
///
/// ```swift
/// let peers = FetchedPropertyDescription(
///   "peers", FetchRequest("Person", where: try Predicate(format: "department == $FETCH_SOURCE.department")))
/// ```
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The name, unique in the entity and its ancestors.
  public var name: String
  /// The fetch.
  public var fetchRequest: FetchRequest
  /// Kept from the model; a fetched property has no value that could be missing.
  public var isOptional: Bool = true
  /// The name in the previous version of the model.
  public var renamingIdentifier: String?
  /// Whatever the model's author attached; reached in the predicate as `$FETCHED_PROPERTY.userInfo.KEY`.
  public var userInfo: [String: Value] = [:]
  /// Where the property was written.
  @IgnoredInEquality public var location: SourceLocation? = nil

  /// A fetched property.
  public init(_ name: String, fetchRequest: FetchRequest) {
    self.name = name
    self.fetchRequest = fetchRequest
  }
}
