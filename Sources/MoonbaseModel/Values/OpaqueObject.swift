package import MoonbasePlatform

/// A value that only its creator can resolve: a token with a class name and the creator's reference.
///
/// The token is `Sendable` because it is opaque: code outside of its domain sees only the class name. The domain that
/// made the token keeps the object alive while the token lives.
///
/// In snapshots only, a token may also stand for bytes that the store has not read yet, or for damaged data in a store.
/// Reading damaged data throws.
public final class OpaqueObject: Sendable, Hashable {
  /// The registered name of the value's class, for example `Color`.
  public let className: String
  /// The number of the domain that can resolve the reference.
  package let domain: UInt64
  /// The domain's reference, without meaning elsewhere.
  package let reference: Int
  /// Reads the bytes of the token; nil for objects of scripting domains.
  package let load: (@Sendable () throws -> Data)?
  /// The error of damaged data; nil for other tokens.
  package let damage: (any Error)?
  /// Releases the reference in its domain.
  private let release: @Sendable (Int) -> Void

  /// A token of a domain. `release` is called once with the reference, on the thread that releases the token last.
  package init(className: String, domain: UInt64, reference: Int, release: @escaping @Sendable (Int) -> Void) {
    self.className = className
    self.domain = domain
    self.reference = reference
    (load, damage) = (nil, nil)
    self.release = release
  }

  /// A token for bytes that `load` reads on demand. Each token of this kind equals only itself.
  package init(load: @escaping @Sendable () throws -> Data, release: @escaping @Sendable () -> Void) {
    className = "binary data"
    domain = 0
    reference = 0
    self.load = load
    damage = nil
    self.release = { _ in release() }
  }

  /// A token for damaged data. `digest` identifies the data in the column, so that changes are detected.
  package init(damage: any Error, digest: Int) {
    className = "damaged value"
    domain = 0
    reference = digest
    load = { throw damage }
    self.damage = damage
    release = { _ in }
  }

  deinit { release(reference) }

  /// Whether both tokens name the same object of the same domain, or the same damaged data.
  public static func == (left: OpaqueObject, right: OpaqueObject) -> Bool {
    if left === right { return true }
    if left.damage != nil, right.damage != nil { return left.reference == right.reference }
    return left.load == nil && right.load == nil && left.domain == right.domain && left.reference == right.reference
  }

  /// Hashes domain and reference.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(domain)
    hasher.combine(reference)
  }
}
