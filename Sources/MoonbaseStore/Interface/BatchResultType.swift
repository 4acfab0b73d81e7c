/// The kind of result of a batch request.
public enum BatchResultType: Sendable, Hashable {
  /// No result.
  case statusOnly
  /// The number of affected objects.
  case count
  /// The IDs of the affected objects, and all changes, for contexts to merge.
  case objectIDs
}
