public import MoonbaseModel

/// What one save writes to one store. All IDs are permanent.
///
/// ```swift
/// var changes = StoreChanges()
/// changes.inserted = [Snapshot(id: id, version: 1, values: values)]
/// try store.save(changes) {}
/// ```
public struct StoreChanges: Sendable {
  /// A changed row.
  public struct Update: Sendable {
    /// The new row; its version is one more than `expectedVersion`.
    public var snapshot: Snapshot
    /// The slots of attributes and to-one relationships that differ from the row as it was. May be empty where only a
    /// to-many relationship changed.
    public var changedSlots: [Slot]
    /// The version the file must hold; nil writes whatever the file holds (and the row becomes the file's version + 1).
    public var expectedVersion: Int64?

    /// Makes an update.
    public init(snapshot: Snapshot, changedSlots: [Slot], expectedVersion: Int64?) {
      self.snapshot = snapshot
      self.changedSlots = changedSlots
      self.expectedVersion = expectedVersion
    }
  }

  /// A deleted row.
  public struct Deletion: Sendable {
    /// The object.
    public var id: ManagedObjectID
    /// The version the file must hold; nil deletes whatever the file holds.
    public var expectedVersion: Int64?
    /// Destinations that the object gave up before it was deleted, by many-to-many relationship: its delete rules need not reach
    /// them.
    public var released: [Slot: Set<ManagedObjectID>] = [:]

    /// Makes a deletion.
    public init(id: ManagedObjectID, expectedVersion: Int64?) {
      self.id = id
      self.expectedVersion = expectedVersion
    }
  }

  /// A changed many-to-many relationship, or the changed order of an ordered to-many one.
  ///
  /// Unordered one-to-many relationships need none: their destinations' to-one slots say it all. Of the two sides of a
  /// many-to-many relationship the graph gives each changed link once, from either side.
  public struct Links: Sendable {
    /// The object whose relationship it is.
    public var owner: ManagedObjectID
    /// The relationship's slot.
    public var slot: Slot
    /// Destinations that came (many-to-many only).
    public var added: [ManagedObjectID]
    /// Destinations that went (many-to-many only).
    public var removed: [ManagedObjectID]
    /// All destinations in order, for an ordered relationship.
    public var order: [ManagedObjectID]?
    /// The positions in `order`, ascending, of those that stand elsewhere among the others than in the store, or came. Nil
    /// where any may.
    public var moved: [Int]?

    /// Makes a change of links.
    public init(
      owner: ManagedObjectID, slot: Slot, added: [ManagedObjectID], removed: [ManagedObjectID],
      order: [ManagedObjectID]?, moved: [Int]? = nil
    ) {
      self.owner = owner
      self.slot = slot
      self.added = added
      self.removed = removed
      self.order = order
      self.moved = moved
    }
  }

  /// New rows, of version 1.
  public var inserted: [Snapshot] = []
  /// Changed rows.
  public var updated: [Update] = []
  /// Deleted rows. The store removes their many-to-many links too.
  public var deleted: [Deletion] = []
  /// Changed links.
  public var links: [Links] = []

  /// Makes an empty set of changes.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && links.isEmpty }
}
