import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The changes passed to an observer of a context. The lists are built when a script reads them.
///
/// Each event makes a box, which is passed to the observer's function as a host object of type `changes`. The box of
/// `will_save` reads its context's sets at each access; the other boxes hold the lists of their event. Confined to the
/// thread of the context.
final class ChangesBox {
  /// A list, numbered in the order of its names. Scripts read the lists as `changes.inserted`, `changes.updated` and so
  /// on.
  enum List: Int, CaseIterable {
    case inserted, updated, deleted, refreshed
  }

  /// The source of the lists: `objects_did_change`, `will_save`, `did_save` and `did_merge`, in this order.
  private enum Content {
    case changed(ContextChange)
    case toSave(ManagedObjectContext)
    case saved(ContextSave)
    case merged(SavedObjectIDs)
  }

  private let content: Content

  /// The changes of one event of a context, for `objects_did_change`.
  init(_ change: ContextChange) { content = .changed(change) }
  /// The changes that a context is about to save.
  init(savesOf context: ManagedObjectContext) { content = .toSave(context) }
  /// The objects that a finished save has written, for `did_save`.
  init(_ save: ContextSave) { content = .saved(save) }
  /// The IDs that a context has merged from a save elsewhere, for `did_merge`.
  init(merged: SavedObjectIDs) { content = .merged(merged) }

  /// The IDs that another context can merge. `context:merge_changes(changes)` takes them; nil for changes that are not
  /// saved.
  var saved: SavedObjectIDs? {
    switch content {
    case .saved(let save): save.objectIDs
    case .merged(let ids): ids
    case .changed, .toSave: nil
    }
  }

  /// Whether the context was reset, so that all its objects are invalid.
  var isInvalidated: Bool { if case .changed(let change) = content { change.isInvalidated } else { false } }

  /// A list of objects; a list of IDs for merged changes.
  ///
  /// `refreshed` is empty except for `objects_did_change`. Building a list costs a handle per object.
  fileprivate func list(_ list: List, in domain: ScriptDomain) throws -> LuaTable {
    switch content {
    case .changed(let change):
      try domain.list(of: [change.inserted, change.updated, change.deleted, change.refreshed][list.rawValue])
    case .toSave(let context):
      try domain.list(of: [context.insertedObjects, context.updatedObjects, context.deletedObjects, []][list.rawValue])
    case .saved(let save):
      try domain.list(of: [save.inserted, save.updated, save.deleted, []][list.rawValue])
    case .merged(let saved):
      try domain.state.list(
        [saved.inserted, saved.updated, saved.deleted, []][list.rawValue].map {
          try domain.luaValue(from: .objectID($0))
        })
    }
  }
}

extension HostTypes {
  /// Describes the type `changes`: a property for each list, and `is_invalidated`.
  func describeChanges(_ type: LuaHostType<ChangesBox>) {
    for list in ChangesBox.List.allCases {
      type.property(
        "\(list)",
        get: { [unowned self] box, call in try call.return(.table(box.list(list, in: openDomain()))) })
    }
    type.property("is_invalidated", get: { box, call in call.return(box.isInvalidated) })
  }
}
