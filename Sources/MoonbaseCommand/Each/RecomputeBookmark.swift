import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The progress of a recomputation, stored in the metadata of the store. It is updated with each batch, so that an
/// interrupted run can resume after the last saved batch.
///
/// The bookmark belongs to one entity and one state of the extensions' code. If the code changed,
/// the recomputation starts from the beginning.
struct RecomputeBookmark: Sendable {
  /// The key in the store's metadata.
  private static let key = "MoonbaseRecompute"

  /// An entry of the metadata.
  private struct Note {
    /// The key of the last object in the last batch, and the numbers of visited and changed objects so far.
    ///
    /// The key of the last object.
    var place: Int64
    /// The number of visited objects.
    var visited: Int
    /// The number of changed objects.
    var changed: Int
    /// The digest of the extensions and of the computed attributes.
    var code: String

    /// An entry with these values.
    init(place: Int64, visited: Int, changed: Int, code: String) {
      (self.place, self.visited, self.changed, self.code) = (place, visited, changed, code)
    }

    /// Reads an entry; nil for another form.
    init?(_ value: Value?) {
      guard case .map(let entry)? = value, case .int(let place)? = entry["place"],
        case .int(let visited)? = entry["visited"],
        case .int(let changed)? = entry["changed"], case .string(let code)? = entry["code"],
        let visited = Int(exactly: visited), let changed = Int(exactly: changed)
      else { return nil }
      self.init(place: place, visited: visited, changed: changed, code: code)
    }

    var value: Value {
      .map([
        "place": .int(place), "visited": .int(Int64(visited)), "changed": .int(Int64(changed)), "code": .string(code),
      ])
    }
  }

  /// The name of the entity.
  private let entity: String
  /// The digest of the code.
  private let code: String
  /// The store with the objects.
  private let store: any PersistentStore
  /// The entry of an earlier run.
  private let former: Note?
  /// The numbers of this run, which workers update.
  private let progress = Lock((visited: 0, changed: 0))

  /// Reads the bookmark of an entity in a store. An entry for different code is ignored, and so is any entry if the
  /// keys are not ascending.
  init(_ entity: String, code: String, in store: any PersistentStore) throws {
    (self.entity, self.code, self.store) = (entity, code, store)
    let note = Note(Self.notes(in: try store.metadata())[entity])
    former = note?.code == code ? note : nil
  }

  /// The entries by entity.
  private static func notes(in metadata: [String: Value]) -> [String: Value] {
    guard case .map(let notes)? = metadata[key] else { return [:] }
    return notes
  }

  /// The counts of an earlier run, or nil if this run starts from the beginning.
  var formerCounts: (visited: Int, changed: Int)? { former.map { ($0.visited, $0.changed) } }

  /// The objects after the position of the earlier run.
  func rest(of ids: IDList) -> IDList {
    guard let former, zip(ids, ids.dropFirst()).allSatisfy({ $0.key < $1.key }) else { return ids }
    return IDList(ids.drop { $0.key <= former.place })
  }

  /// The metadata change that records the visited part of a batch.
  ///
  /// Returns nil for a batch without visited objects.
  func change(after objects: [ManagedObject], changed: Int) -> MetadataChange? {
    guard let last = objects.last?.objectID else { return nil }
    let (visited, changed) = progress.withLock { progress in
      progress.visited += objects.count
      progress.changed += changed
      return progress
    }
    let note = Note(
      place: last.key, visited: visited + (former?.visited ?? 0), changed: changed + (former?.changed ?? 0), code: code)
    return change { $0[entity] = note.value }
  }

  /// Removes the entry, because the work is done.
  func end() throws {
    guard try Self.notes(in: store.metadata())[entity] != nil else { return }
    try store.change(change { $0[entity] = nil })
  }

  /// A change of the entries, within the transaction of a save.
  private func change(_ body: @escaping @Sendable (inout [String: Value]) -> Void) -> MetadataChange {
    MetadataChange(of: store) { metadata in
      var (result, notes) = (metadata, Self.notes(in: metadata))
      body(&notes)
      result[Self.key] = notes.isEmpty ? nil : .map(notes)
      return result
    }
  }

  /// The digest of the current extension files and of the names.
  ///
  /// A folder counts with all Lua files in it.
  static func digest(extensions: [String], names: [String]) -> String {
    var text = names.joined(separator: ",")
    for path in extensions {
      let inside =
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted().map { "\(path)/\($0)" }) ?? [path]
      for file in inside where file.hasSuffix(".lua") {
        let bytes = (try? BoundedFile.read(file, limit: 64 << 20)) ?? []
        text += "\n\(file.lastPartOfPath) \(SHA2.shortText(Data(bytes)))"
      }
    }
    return SHA2.shortText(Data(text.utf8))
  }
}
