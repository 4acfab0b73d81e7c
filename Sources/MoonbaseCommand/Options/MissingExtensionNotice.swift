import MoonbasePlatform

/// Prints a message if a store is read without extensions that were loaded when it was saved. The message is printed
/// once for each store, even if the store is opened several times.
enum MissingExtensionNotice {
  /// The messages that were printed.
  private static let told = Lock<Set<String>>([])

  /// Prints a message on standard error, unless it was printed before. It may be called on any
  /// thread.
  static let tell: @Sendable (String) -> Void = { message in
    guard told.withLock({ $0.insert(message).inserted }) else { return }
    Terminal.complain("moonbase: \(message)")
  }
}
