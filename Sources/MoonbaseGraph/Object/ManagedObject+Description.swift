import MoonbaseModel

extension ManagedObjectID {
  /// Entity and key without the store: `Department/p3`.
  var lastComponents: String {
    uriRepresentation.split(separator: "/").suffix(2).joined(separator: "/")
  }
}
