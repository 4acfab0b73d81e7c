extension UUID {
  /// Reads a whole text as a UUID; nil for anything else. Foundation leaves what stands behind a zero byte.
  package init?(literal text: String) {
    guard text.utf8.count == 36 else { return nil }
    self.init(uuidString: text)
  }
}
