extension GraphError {
  /// The bytes of the error alone, by estimate: the value is that of an object, and others are behind it or among its details.
  package var ownWeight: Int {
    let names = (entity?.utf8.count ?? 0) &+ (property?.utf8.count ?? 0)
    return 512 &+ 2 &* (message.utf8.count &+ (reason?.utf8.count ?? 0) &+ names)
  }
}
