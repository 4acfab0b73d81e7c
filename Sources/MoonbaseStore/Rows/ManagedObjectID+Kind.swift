package import MoonbaseModel

/// The grouping of IDs in tables and lists.
extension ManagedObjectID {
  /// The store and entity of an ID, which all IDs in a table share.
  package struct Kind: Hashable {
    /// The number of the store in the upper half, the number of the entity in the lower.
    package let bits: UInt64

    /// `store` is 0 for temporary IDs.
    package init(store: UInt32, entity: Symbol) { bits = UInt64(store) << 32 | UInt64(entity.number) }

    /// The number of the store.
    package var store: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
    /// The entity as a symbol.
    package var entity: Symbol { Symbol(number: UInt32(truncatingIfNeeded: bits)) }
  }

  /// The store and entity of the ID.
  package var kind: Kind { Kind(store: storeNumber, entity: entitySymbol) }

  /// Makes the ID with a key of a kind.
  package init(_ kind: Kind, key: Int64) {
    self.init(store: StoreNumber(rawValue: kind.store), entity: kind.entity, key: key)
  }
}
