public import MoonbaseModel

/// Many IDs in order, packed: eight bytes for each key, and four more if the IDs are of several entities or stores.
///
/// ```swift
/// let ids = try session.objectIDs(matching: query)
/// for id in ids.prefix(10) { print(id) }
/// ```
public struct IDList: Sendable {
  private var keys: [Int64]
  /// The pairs of store and entity, without repetition.
  private var kinds: [ManagedObjectID.Kind]
  /// For each key, the index of its kind; empty if all IDs are of one kind.
  private var places: [UInt32] = []

  /// No IDs.
  public init() { (keys, kinds) = ([], []) }

  /// Packs IDs.
  public init(_ ids: some Sequence<ManagedObjectID>) {
    self.init()
    keys.reserveCapacity(ids.underestimatedCount)
    for id in ids { append(id) }
  }

  /// IDs of one entity of a store.
  package init(keys: [Int64], store: StoreNumber, entity: Symbol) {
    self.keys = keys
    kinds = [ManagedObjectID.Kind(store: store.rawValue, entity: entity)]
  }

  /// Adds an ID at the end.
  public mutating func append(_ id: ManagedObjectID) {
    if kinds.count == 1, kinds[0] == id.kind { return keys.append(id.key) }
    append(id.key, of: id.kind)
  }

  private mutating func append(_ key: Int64, of kind: ManagedObjectID.Kind) {
    if keys.isEmpty { kinds = [] }
    let place = kinds.firstIndex(of: kind) ?? kinds.count
    if place == kinds.count { kinds.append(kind) }
    if kinds.count > 1 {
      if places.isEmpty { places = [UInt32](repeating: 0, count: keys.count) }
      places.append(UInt32(place))
    }
    keys.append(key)
  }

  /// Adds other IDs at the end.
  public mutating func append(contentsOf other: IDList) {
    if keys.isEmpty { return self = other }
    if kinds.count == 1, kinds == other.kinds { return keys += other.keys }
    for id in other { append(id) }
  }

  /// Adds the IDs of rows at the end.
  package mutating func append(_ rows: RowBatch) {
    for stretch in rows.stretches {
      let kind = stretch.page.kind
      if keys.isEmpty { kinds = [kind] }
      for place in stretch.places {
        let key = stretch.page.key(place)
        if kinds.count == 1, kinds[0] == kind { keys.append(key) } else { append(key, of: kind) }
      }
    }
  }

  /// The IDs by ascending keys.
  package func sortedByKey() -> IDList {
    zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 } ? self : IDList(sorted { $0.key < $1.key })
  }

  /// The keys, if all are of one kind.
  package var uniform: (kind: ManagedObjectID.Kind, keys: [Int64])? { kinds.count == 1 ? (kinds[0], keys) : nil }

  /// The size of the list in bytes.
  package var weight: Int { keys.count &* 8 &+ places.count &* 4 }
}

extension IDList: RandomAccessCollection {
  /// The first place.
  public var startIndex: Int { 0 }
  /// The place after the last ID.
  public var endIndex: Int { keys.count }

  /// The ID at a place.
  public subscript(index: Int) -> ManagedObjectID {
    ManagedObjectID(kinds[places.isEmpty ? 0 : Int(places[index])], key: keys[index])
  }
}

extension IDList: ExpressibleByArrayLiteral {
  /// Packs the IDs of a literal.
  public init(arrayLiteral ids: ManagedObjectID...) { self.init(ids) }
}

extension IDList: Equatable {
  /// Whether both have the same IDs in the same order.
  public static func == (left: IDList, right: IDList) -> Bool {
    left.count == right.count
      && (left.kinds == right.kinds && left.places == right.places
        ? left.keys == right.keys : left.elementsEqual(right))
  }
}
