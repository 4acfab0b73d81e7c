extension URL {
  /// The URL of a text as it stands; nil for what Foundation would write in another way, as it does with spaces.
  package init?(literal text: String) {
    guard let url = URL(string: text), url.absoluteString == text else { return nil }
    self = url
  }
}
