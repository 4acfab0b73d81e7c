extension GraphError {
  /// An estimate of the error's own bytes, without its value, details and underlying error.
  package var ownWeight: Int {
    let names = (entity?.utf8.count ?? 0) &+ (property?.utf8.count ?? 0)
    return 512 &+ 2 &* (message.utf8.count &+ (reason?.utf8.count ?? 0) &+ names)
  }
}
