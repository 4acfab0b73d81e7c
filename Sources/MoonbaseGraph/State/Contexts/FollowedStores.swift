/// The stores of a parent context, which the coordinator of its children shows.
protocol FollowedStores: AnyObject, Sendable {
  /// The context whose children read the stores.
  var parent: ManagedObjectContext { get }

  /// A store over each store of the parent; instances in `known` are kept.
  func stores(over bases: [any PersistentStore], known: [any PersistentStore]) -> [any PersistentStore]
}
