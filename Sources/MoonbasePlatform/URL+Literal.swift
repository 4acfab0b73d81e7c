extension URL {
  /// The URL with exactly this text; nil if Foundation would change it, for example by escaping spaces.
  package init?(literal text: String) {
    guard let url = URL(string: text), url.absoluteString == text else { return nil }
    self = url
  }
}
