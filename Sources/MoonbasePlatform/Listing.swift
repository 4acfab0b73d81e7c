extension Collection<String> {
  /// The texts separated by commas, for a message: at most `limit` of them, and the number of the rest.
  package func listed(atMost limit: Int = 10) -> String {
    let list = prefix(limit).joined(separator: ", ")
    return count > limit ? "\(list) and \(count - limit) more" : list
  }
}
