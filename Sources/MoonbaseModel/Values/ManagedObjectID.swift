import MoonbasePlatform

/// The identity of a managed object: store, entity and key. 16 bytes, without reference counting.
///
/// ```swift
/// let text = id.uriRepresentation                            // x-coredata://<STORE-UUID>/Person/p1
/// let same = ManagedObjectID(uriRepresentation: text) == id
/// ```
///
/// A temporary ID belongs to an object that was never saved; saving its context makes it permanent. The text forms are
/// Core Data's: `x-coredata://<STORE-UUID>/Person/p1` and `x-coredata:///Person/t<uuid>`.
public struct ManagedObjectID: Hashable, Sendable {
  /// The interned store identifier; 0 for a temporary ID.
  @usableFromInline package let storeNumber: UInt32
  /// The interned name of the object's entity, the most derived one.
  @usableFromInline package let entitySymbol: Symbol
  /// The primary key in the store, or the serial number of a temporary ID.
  @usableFromInline package let key: Int64

  /// A permanent ID.
  @inlinable
  package init(store: StoreNumber, entity: Symbol, key: Int64) {
    storeNumber = store.rawValue
    entitySymbol = entity
    self.key = key
  }

  /// A new temporary ID.
  package init(temporaryFor entity: Symbol) {
    storeNumber = 0
    entitySymbol = entity
    key = TemporaryKeys.setAside(1)
  }

  /// Combines the fields into a single word, because IDs are hashed for every object access.
  public func hash(into hasher: inout Hasher) {
    let place = UInt64(storeNumber) << 32 | UInt64(entitySymbol.number)
    hasher.combine(UInt64(bitPattern: key) ^ place &* 0x9E37_79B9_7F4A_7C15)
  }

  /// The order of objects that are equal otherwise: by store in opening order and by key within a store. Temporary IDs
  /// follow, by serial number within an entity. So saving changes the order of few objects.
  package func isBefore(_ other: Self) -> Bool {
    if storeNumber == other.storeNumber { return key < other.key }
    return !isTemporaryID && (other.isTemporaryID || storeNumber < other.storeNumber)
  }

  /// Whether the object was never saved.
  @inlinable public var isTemporaryID: Bool { storeNumber == 0 }

  /// The name of the object's entity. In an ID parsed from text this is the name in the text, until a store has read
  /// the row.
  public var entityName: String { entitySymbol.name }

  /// The store's identifier, an upper-case UUID; nil for a temporary ID.
  public var storeIdentifier: String? { isTemporaryID ? nil : StoreNumber(rawValue: storeNumber).identifier }

  /// The `x-coredata` URI of the object.
  public var uriRepresentation: String {
    isTemporaryID
      ? "x-coredata:///\(entityName)/t\(TemporaryKeys.uuid(of: key).uuidString)"
      : "x-coredata://\(storeIdentifier ?? "")/\(entityName)/p\(key)"
  }

  /// Parses the URI of a permanent ID. Returns nil for another form and for a store that this process never opened.
  ///
  /// The text is not verified and may name another entity that shares the object's table. A coordinator's
  /// `managedObjectID(forURIRepresentation:)` reads the row instead.
  public init?(uriRepresentation text: String) {
    let prefix = "x-coredata://"
    // A text longer than any name is not split.
    guard text.utf8.count <= 2 * TextLimits.greatestPath, text.hasPrefix(prefix), !text.hasLongRunOfMarks
    else { return nil }
    let parts = text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].first == "p", let key = Int64(parts[2].dropFirst()), key > 0,
      let store = StoreNumber.known(String(parts[0])), let entity = Symbol.known(String(parts[1]))
    else { return nil }
    self.init(store: store, entity: entity, key: key)
  }
}

extension ManagedObjectID: CustomStringConvertible {
  /// The URI.
  public var description: String { uriRepresentation }
}

/// A range of temporary keys, reserved by a context for new objects of an entity. The keys are consecutive, like the
/// permanent keys later.
package struct TemporaryKeyRange: Sendable {
  /// The number of keys of the first reservation.
  private static let smallest: Int64 = 16
  /// The greatest number of keys of a reservation.
  private static let greatest: Int64 = 1 << 20

  /// The next key.
  private var next: Int64 = 0
  /// The end of the reserved keys.
  private var end: Int64 = 0
  /// The number of keys of the next reservation, which grows by a factor of four.
  private var size = smallest

  /// An empty range. Keys are reserved when the first is taken.
  package init() {}

  /// A new temporary ID of the entity.
  package mutating func makeID(for entity: Symbol) -> ManagedObjectID {
    if next == end { setAside() }
    defer { next += 1 }
    return ManagedObjectID(store: StoreNumber(rawValue: 0), entity: entity, key: next)
  }

  /// Reserves further keys.
  private mutating func setAside() {
    next = TemporaryKeys.setAside(size)
    end = next + size
    size = min(4 * size, Self.greatest)
  }
}

/// Serial numbers for temporary IDs, and their text form as UUIDs.
private enum TemporaryKeys {
  /// The last serial number of the process.
  private static let counter = Lock(Int64(0))
  /// A random UUID of the process.
  private static let base = UUID.random().uuid

  /// Reserves serial numbers and returns the first.
  static func setAside(_ count: Int64) -> Int64 {
    counter.withLock {
      $0 += count
      return $0 - count + 1
    }
  }

  /// A UUID of this process whose last eight bytes are the number.
  static func uuid(of key: Int64) -> UUID {
    var bytes = base
    withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: key.bigEndian, toByteOffset: 8, as: Int64.self) }
    return UUID(uuid: bytes)
  }
}
