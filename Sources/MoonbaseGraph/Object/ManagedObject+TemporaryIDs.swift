import MoonbaseModel
import MoonbasePlatform

/// Temporary IDs in values that are not saved: values that awake-from-fetch sets, and primitive transient values.
///
/// No save considers their objects, while the IDs change with a save.
extension ManagedObject {
  /// Registers the object for replacement of temporary IDs at the next save, if a slot contains one and no change lists
  /// it. Called after each value that no change records.
  final func keepForNewIDs(_ slot: Slot) {
    guard let context, !state.contains(.listed), holdsTemporaryID(slot) else { return }
    context.writing.objectsWithTemporaryIDs.append(self)
  }

  /// Whether the object's own value contains one.
  private func holdsTemporaryID(_ slot: Slot) -> Bool {
    // A delayed value of an added attribute lists the object.
    if isAdded(slot) { return false }
    guard case .toMany = entity.properties[slot].kind else { return own(slot)?.holdsTemporaryID == true }
    return relationships[slot]?.added.contains(where: \.isTemporaryID) == true
  }

  /// Replaces temporary IDs in the object's values by permanent IDs. Values computed from such IDs are invalidated.
  final func replaceTemporaryIDs(by permanent: PermanentIDs) {
    guard context != nil else { return }
    outdateTemporaryDestinations()
    for slot in entity.properties.indices {
      if let known = relationships[slot] {
        known.replaceIDs(by: permanent)
      } else if let value = own(slot)?.replacingIDs({ permanent[$0] }) {
        restoreOwn(value, slot: slot)
        outdate(slot, because: .identity)
      }
    }
  }
}

/// Objects with temporary IDs in unlisted values.
extension ManagedObjectContext {
  /// Objects that a rollback makes faults, because objects in their values leave. Changed objects become faults anyway.
  var objectsToFaultAtRollback: [ManagedObject] {
    var seen: Set<ObjectIdentifier> = []
    return writing.objectsWithTemporaryIDs.filter { object in
      object.context === self && !object.isFault && !object.state.contains(.listed)
        && seen.insert(ObjectIdentifier(object)).inserted
    }
  }

  /// Replaces temporary IDs in objects outside of the list of changes. Called when new objects get permanent IDs.
  func tellHoldersOfTemporaryIDs(_ permanent: PermanentIDs) {
    guard !permanent.isEmpty, !writing.objectsWithTemporaryIDs.isEmpty else { return }
    for object in writing.objectsWithTemporaryIDs { object.replaceTemporaryIDs(by: permanent) }
    // Some objects may still wait for objects that are not saved yet.
    let isDone = !changedObjects.contains { $0.isInserted }
    if isDone { writing.objectsWithTemporaryIDs = [] }
  }
}

/// Detection of temporary IDs, which change at the save and must not be stored.
///
/// Text and bytes are searched for the mark that all temporary IDs of a process share.
extension Value {
  /// Whether the value contains a temporary ID, as an ID or within text or bytes.
  var holdsTemporaryID: Bool {
    switch self {
    case .string(var text): text.withUTF8 { Self.isMarked(UnsafeRawBufferPointer($0)) }
    case .uri(let url): Value.string(url.absoluteString).holdsTemporaryID
    case .data(let data): data.withUnsafeBytes { Self.isMarked($0) }
    case .objectID(let id): id.isTemporaryID
    case .list(let values): values.contains(where: \.holdsTemporaryID)
    case .map(let values): values.contains { Value.string($0).holdsTemporaryID || $1.holdsTemporaryID }
    default: false
    }
  }

  /// Whether bytes contain the mark.
  private static func isMarked(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= temporaryMark.count && bytes.firstRange(of: temporaryMark) != nil
  }

  /// The common part of the texts of a process's temporary IDs: `/t` and the first half of a UUID.
  private static let temporaryMark: [UInt8] = {
    let text = ManagedObjectID(temporaryFor: Symbol("")).uriRepresentation
    return Array(text.dropFirst("x-coredata://".count + 1).prefix("/t00000000-0000-0000-".count).utf8)
  }()
}
