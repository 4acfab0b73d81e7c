public import MoonbaseModel

/// What one save writes to one store. All IDs are permanent.
///
/// ```swift
/// var changes = StoreChanges()
/// changes.inserted = [Snapshot(id: id, version: 1, values: values)]
/// try store.save(changes)
/// ```
public struct StoreChanges: Sendable {
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
    /// Where destinations of an ordered relationship stand; nil where the order of those that are left is what it was.
    public var order: Order?

    /// Makes a change of links.
    public init(
      owner: ManagedObjectID, slot: Slot, added: [ManagedObjectID], removed: [ManagedObjectID], order: Order?
    ) {
      self.owner = owner
      self.slot = slot
      self.added = added
      self.removed = removed
      self.order = order
    }
  }

  /// What a save says of the order of a relationship: of as few destinations as show it.
  public enum Order: Sendable {
    /// All destinations, in order.
    case all([ManagedObjectID])
    /// The stretches of the list in which destinations came or moved, none of which overlaps another one. All others stand in
    /// the order in which the store has them.
    case stretches([Stretch])
    /// These stand at the end, one after the other. One that the store has in the list already stays where it is, unless it is
    /// among `returned`: it went and came back.
    case appended([ManagedObjectID], returned: Set<ManagedObjectID>)

    /// Whether it says of no destination where it stands.
    var isEmpty: Bool {
      switch self {
      case .all: false
      case .stretches(let stretches): stretches.isEmpty
      case .appended(let ids, _): ids.isEmpty
      }
    }
  }

  /// A part of an ordered list: destinations that came or moved, and some of those around them.
  public struct Stretch: Sendable {
    /// How many that stay a stretch has before and behind those that moved, unless the list is at its end there.
    public static let margin = 33

    /// Destinations that stand one after the other. One that moved is the first of these only where it is the first of
    /// the list, and the last only where it is the last of the list.
    public var ids: [ManagedObjectID]
    /// The positions in `ids`, ascending, of those that came or stand elsewhere among the others.
    public var moved: [Int]

    /// Makes a stretch.
    public init(ids: [ManagedObjectID], moved: [Int]) {
      self.ids = ids
      self.moved = moved
    }
  }

  /// New rows, of version 1.
  public var inserted = RowBatch()
  /// Changed rows.
  public var updated = Updates()
  /// Deleted rows. The store removes their many-to-many links too.
  public var deleted: [Deletion] = []
  /// Changed links.
  public var links: [Links] = []

  /// The name of the context that saves, for a store that keeps a history.
  public var contextName: String?

  /// What becomes of the metadata that is not the store's own, with the same commit.
  package var metadataChange: MetadataChange.Body?

  /// Whether new rows may point at ones that a later save brings: who says so has looked that it will.
  package var destinationsMayFollow = false

  /// New rows that come while those before are written, for a store that takes them (`RowTaker`).
  package var following: RowQueue?

  /// Makes an empty set of changes.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && links.isEmpty && metadataChange == nil
      && following == nil
  }
}
