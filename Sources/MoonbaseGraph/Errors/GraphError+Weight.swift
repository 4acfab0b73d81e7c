extension GraphError {
  /// The bytes of the error alone, by estimate: the value is that of an object, and others are behind it or among its details.
  package var ownWeight: Int { 512 + 2 * message.utf8.count }
}
