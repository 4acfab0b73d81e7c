import MoonbasePlatform

/// Tells that a store is read without extensions that its saves ran with: each store once, however often it is opened.
enum MissingExtensionNotice {
  private static let told = Lock<Set<String>>([])

  static let tell: @Sendable (String) -> Void = { message in
    guard told.withLock({ $0.insert(message).inserted }) else { return }
    Terminal.complain("moonbase: \(message)")
  }
}
