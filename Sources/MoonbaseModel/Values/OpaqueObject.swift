package import MoonbasePlatform

/// A value that only its maker can resolve: a token that carries the class name and the maker's reference.
///
/// The token is `Sendable` because it is opaque: code outside of its domain sees its class name and nothing else. The domain
/// that made it keeps the object alive as long as the token lives.
///
/// In snapshots, and nowhere else, a token may also stand for bytes that the store has not read yet, or for what a store holds in the place
/// of a value and is none: to read that throws.
public final class OpaqueObject: Sendable, Hashable {
  /// The registered name of the value's class, for example `Color`.
  public let className: String
  /// The number of the domain that can resolve the reference.
  package let domain: UInt64
  /// The domain's own reference; it has no meaning elsewhere.
  package let reference: Int
  /// Reads the bytes that the token stands for; nil for objects of scripting domains.
  package let load: (@Sendable () throws -> Data)?
  /// Why the store has no value; nil where it has one.
  package let damage: (any Error)?
  private let release: @Sendable (Int) -> Void

  /// A token; `release` is called once with the reference, from whatever thread drops the token last.
  package init(className: String, domain: UInt64, reference: Int, release: @escaping @Sendable (Int) -> Void) {
    self.className = className
    self.domain = domain
    self.reference = reference
    (load, damage) = (nil, nil)
    self.release = release
  }

  /// A token for bytes that `load` reads when they are asked for. No two are equal.
  package init(load: @escaping @Sendable () throws -> Data, release: @escaping @Sendable () -> Void) {
    className = "binary data"
    domain = 0
    reference = 0
    self.load = load
    damage = nil
    self.release = { _ in release() }
  }

  /// A token for what is no value of its attribute; `digest` tells what one column holds from what it held before.
  package init(damage: any Error, digest: Int) {
    className = "damaged value"
    domain = 0
    reference = digest
    load = { throw damage }
    self.damage = damage
    release = { _ in }
  }

  deinit { release(reference) }

  /// Tokens are equal when they name the same object of the same domain, or the same damage.
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
