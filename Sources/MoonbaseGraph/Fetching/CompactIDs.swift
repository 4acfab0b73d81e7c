package import MoonbaseModel

/// Many IDs in their order, at eight bytes each where all are of one entity in one store.
package struct CompactIDs {
  private var first: ManagedObjectID?
  private var keys: [Int64]
  /// The IDs themselves, where they are of several kinds.
  private var mixed: [ManagedObjectID]

  /// Packs IDs.
  package init(_ ids: [ManagedObjectID]) {
    first = ids.first
    let isUniform = ids.allSatisfy { $0.storeNumber == ids[0].storeNumber && $0.entitySymbol == ids[0].entitySymbol }
    keys = isUniform ? ids.map(\.key) : []
    mixed = isUniform ? [] : ids
  }

  /// Adds IDs at the end.
  package mutating func append(_ ids: [ManagedObjectID]) {
    guard count > 0, let first else { return self = CompactIDs(ids) }
    if mixed.isEmpty, ids.allSatisfy({ $0.storeNumber == first.storeNumber && $0.entitySymbol == first.entitySymbol }) {
      for id in ids { keys.append(id.key) }
    } else {
      mixed = self[0..<count] + ids
      keys = []
    }
  }

  /// How many there are.
  package var count: Int { keys.count + mixed.count }
  /// The bytes that they take.
  package var weight: Int { keys.count * 8 + mixed.count * 16 }

  /// The IDs of some places.
  package subscript(range: Range<Int>) -> [ManagedObjectID] {
    guard mixed.isEmpty, let first else { return Array(mixed[range]) }
    return keys[range].map { key in
      ManagedObjectID(store: StoreNumber(rawValue: first.storeNumber), entity: first.entitySymbol, key: key)
    }
  }
}
