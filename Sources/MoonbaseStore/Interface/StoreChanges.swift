public import MoonbaseModel

/// The changes that one save writes to one store. All IDs are permanent.
///
/// ```swift
/// var changes = StoreChanges()
/// changes.inserted = [Snapshot(id: id, version: 1, values: values)]
/// try store.save(changes)
/// ```
public struct StoreChanges: Sendable {
  /// A deleted row.
  public struct Deletion: Sendable {
    /// The object ID.
    public var id: ManagedObjectID
    /// The version that the store's row must have; nil deletes any version.
    public var expectedVersion: Int64?
    /// The destinations that the object released before its deletion, by the slots of relationships that are stored as
    /// pairs. Delete rules need not reach them.
    public var released: [Slot: Set<ManagedObjectID>] = [:]

    /// Makes a deletion.
    public init(id: ManagedObjectID, expectedVersion: Int64?) {
      self.id = id
      self.expectedVersion = expectedVersion
    }
  }

  /// A changed many-to-many relationship, or a changed order of an ordered to-many relationship.
  ///
  /// An unordered one-to-many relationship needs no such entry: the to-one slots of the destinations hold it. The graph
  /// lists each changed link of a many-to-many relationship once, from either side.
  public struct Links: Sendable {
    /// The ID of the object that has the relationship.
    public var owner: ManagedObjectID
    /// The relationship's slot.
    public var slot: Slot
    /// Added destinations (many-to-many only).
    public var added: [ManagedObjectID]
    /// Removed destinations (many-to-many only).
    public var removed: [ManagedObjectID]
    /// The new positions in an ordered relationship; nil if the remaining destinations keep their order.
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

  /// The changed order of a relationship, described by as few destinations as possible.
  public enum Order: Sendable {
    /// All destinations, in order.
    case all([ManagedObjectID])
    /// The parts of the list with new or moved destinations, without overlaps. All other destinations keep their stored
    /// order.
    case stretches([Stretch])
    /// Destinations to append in order. A destination that is already in the list keeps its place, unless it is in
    /// `returned`: it was removed and added again.
    case appended([ManagedObjectID], returned: Set<ManagedObjectID>)

    /// Whether the order determines no position.
    package var isEmpty: Bool {
      switch self {
      case .all: false
      case .stretches(let stretches): stretches.isEmpty
      case .appended(let ids, _): ids.isEmpty
      }
    }
  }

  /// A part of an ordered list: new or moved destinations, with some neighbours.
  public struct Stretch: Sendable {
    /// The number of unmoved neighbours before and behind the moved destinations, unless the list ends there.
    public static let margin = 33

    /// Consecutive destinations. A moved destination comes first only at the start of the whole list, and last only at
    /// its end.
    public var ids: [ManagedObjectID]
    /// The ascending indexes in `ids` of the new and moved destinations.
    public var moved: [Int]

    /// Makes a stretch.
    public init(ids: [ManagedObjectID], moved: [Int]) {
      self.ids = ids
      self.moved = moved
    }
  }

  /// Inserted rows, with version 1.
  public var inserted = RowBatch()
  /// Changed rows.
  public var updated = Updates()
  /// Deleted rows. The store also removes their many-to-many links.
  public var deleted: [Deletion] = []
  /// Changed links.
  public var links: [Links] = []

  /// The name of the saving context, for a store that keeps a history.
  public var contextName: String?

  /// The change of the program's metadata, as part of the commit.
  package var metadataChange: MetadataChange.Body?

  /// Whether inserted rows may point at rows of a later save. The caller ensures that these follow.
  package var destinationsMayFollow = false

  /// Further inserted rows that arrive while earlier ones are written, for stores that support it (`StreamingStore`).
  package var following: RowQueue?

  /// Makes an empty set of changes.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && links.isEmpty && metadataChange == nil
      && following == nil
  }
}
