extension Collection<String> {
  /// The texts with commas between them, for a message: at most so many of them, and how many there are besides.
  package func listed(atMost limit: Int = 10) -> String {
    let list = prefix(limit).joined(separator: ", ")
    return count > limit ? "\(list) and \(count - limit) more" : list
  }
}
