import MoonbasePlatform

/// The identity of a managed object: store, entity and key. 16 bytes, no reference counting.
///
/// ```swift
/// let text = id.uriRepresentation                            // x-coredata://<STORE-UUID>/Person/p1
/// let same = ManagedObjectID(uriRepresentation: text) == id
/// ```
///
/// A temporary ID belongs to an object that was never saved; it becomes permanent when its context saves. The text forms are
/// Core Data's: `x-coredata://<STORE-UUID>/Person/p1` and `x-coredata:///Person/t<uuid>`.
public struct ManagedObjectID: Hashable, Sendable {
  /// The interned store identifier; 0 while the ID is temporary.
  package let storeNumber: UInt32
  /// The interned name of the object's own (most derived) entity.
  package let entitySymbol: Symbol
  /// The primary key in the store, or the running number of a temporary ID.
  package let key: Int64

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

  /// Hashes all at once: IDs are looked up for every object that is touched.
  public func hash(into hasher: inout Hasher) {
    let place = UInt64(storeNumber) << 32 | UInt64(entitySymbol.number)
    hasher.combine(UInt64(bitPattern: key) ^ place &* 0x9E37_79B9_7F4A_7C15)
  }

  /// The order of objects that nothing else orders: stores in the order in which they were opened, in each the keys ascending, and objects that
  /// were never saved behind them, those of an entity as they came. So nearly all stay where they are when they are saved.
  package func isBefore(_ other: Self) -> Bool {
    if storeNumber == other.storeNumber { return key < other.key }
    return !isTemporaryID && (other.isTemporaryID || storeNumber < other.storeNumber)
  }

  /// Whether the object was never saved.
  public var isTemporaryID: Bool { storeNumber == 0 }

  /// The name of the object's own entity.
  public var entityName: String { entitySymbol.name }

  /// The store's identifier, an upper-case UUID; nil while the ID is temporary.
  public var storeIdentifier: String? { isTemporaryID ? nil : StoreNumber(rawValue: storeNumber).identifier }

  /// The `x-coredata` URI of the object.
  public var uriRepresentation: String {
    isTemporaryID
      ? "x-coredata:///\(entityName)/t\(TemporaryKeys.uuid(of: key).uuidString)"
      : "x-coredata://\(storeIdentifier ?? "")/\(entityName)/p\(key)"
  }

  /// Reads the URI of a permanent ID; nil where the text has another form or names a store this process never opened.
  public init?(uriRepresentation text: String) {
    let prefix = "x-coredata://"
    // What is longer than a name may be is not taken apart.
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

/// Keys of temporary IDs that are one context's for new objects of one entity: they follow each other, as the permanent keys will.
package struct TemporaryKeyRange: Sendable {
  private static let smallest: Int64 = 16
  private static let greatest: Int64 = 1 << 20

  private var next: Int64 = 0
  private var end: Int64 = 0
  private var size = smallest

  /// No keys; they are set aside when the first is taken.
  package init() {}

  /// A new temporary ID of an entity.
  package mutating func take(for entity: Symbol) -> ManagedObjectID {
    if next == end { setAside() }
    defer { next += 1 }
    return ManagedObjectID(store: StoreNumber(rawValue: 0), entity: entity, key: next)
  }

  private mutating func setAside() {
    next = TemporaryKeys.setAside(size)
    end = next + size
    size = min(4 * size, Self.greatest)
  }
}

/// Running numbers for temporary IDs, and their UUID text form.
private enum TemporaryKeys {
  private static let counter = Lock(Int64(0))
  private static let base = UUID.random().uuid

  /// The first of so many numbers that nobody else gets.
  static func setAside(_ count: Int64) -> Int64 {
    counter.withLock {
      $0 += count
      return $0 - count + 1
    }
  }

  /// A UUID of this process with the number in its last eight bytes.
  static func uuid(of key: Int64) -> UUID {
    var bytes = base
    withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: key.bigEndian, toByteOffset: 8, as: Int64.self) }
    return UUID(uuid: bytes)
  }
}
