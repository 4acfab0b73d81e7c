public import MoonbaseModel

/// The grouping of IDs in tables and lists.
extension ManagedObjectID {
  /// The store and entity of an ID, which all IDs in a table share.
  @usableFromInline
  package struct Kind: Hashable, Sendable {
    /// The number of the store in the upper half, the number of the entity in the lower.
    @usableFromInline package let bits: UInt64

    /// `store` is 0 for temporary IDs.
    @inlinable
    package init(store: UInt32, entity: Symbol) { bits = UInt64(store) << 32 | UInt64(entity.number) }

    /// The number of the store.
    @inlinable package var store: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
    /// The entity as a symbol.
    @inlinable package var entity: Symbol { Symbol(number: UInt32(truncatingIfNeeded: bits)) }
  }

  /// The store and entity of the ID.
  @inlinable package var kind: Kind { Kind(store: storeNumber, entity: entitySymbol) }

  /// Makes the ID with a key of a kind.
  @inlinable
  package init(_ kind: Kind, key: Int64) {
    self.init(store: StoreNumber(rawValue: kind.store), entity: kind.entity, key: key)
  }
}
