import MoonbasePlatform

/// Prints a message if a store is read without extensions that were loaded when it was saved. The message is printed
/// once for each store, even if the store is opened several times.
enum MissingExtensionNotice {
  private static let told = Lock<Set<String>>([])

  static let tell: @Sendable (String) -> Void = { message in
    guard told.withLock({ $0.insert(message).inserted }) else { return }
    Terminal.complain("moonbase: \(message)")
  }
}
