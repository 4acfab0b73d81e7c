public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

/// A third kind of store for tests, written with the public API only: a folder with a text file for each entity.
///
/// All rows are in memory, and the store evaluates no predicates. A commit writes the files of a new generation and
/// renames the file that names them, which is atomic. A folder may be used by one store at a time. The store keeps no
/// derived counts.
public final class FolderStore: PersistentStore {
  public let identifier: String
  public let entities: [ResolvedEntity]
  private let folder: URL
  fileprivate let contents: Lock<FolderContents>

  /// Opens the store of a folder, or makes a new one.
  public init(folder: URL, model: ResolvedModel, configuration: String? = nil) throws {
    self.folder = folder
    entities = try model.entities(inConfiguration: configuration)
    let file = folder.appendingPathComponent("store")
    guard let lines = try? String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init) else {
      identifier = UUID().uuidString
      contents = Lock(FolderContents(model: model))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return
    }
    identifier = lines[0]
    contents = Lock(try FolderContents(model: model, folder: folder, generation: lines[1]))
  }

  public var type: String { "Folder" }
  public var url: URL? { folder }
  public var isReadOnly: Bool { false }
  public func metadata() -> [String: Value] { contents.withLock { $0.metadata } }

  public func beginReading(_ extent: ReadScope) -> any ReadSession { FolderView(contents.withLock { $0 }) }

  // MARK: Saving

  public func reserveKeys(for entity: ResolvedEntity, count: Int) -> Int64 {
    contents.withLock { contents in
      let last = contents.lastKeys[entity.root] ?? 0
      contents.lastKeys[entity.root] = last + Int64(count)
      return last + 1
    }
  }

  public func beginSave(author: String?) -> any SaveSession { FolderSession(self) }

  /// Replaces the contents with which a save began; false if another save was faster.
  fileprivate func replace(_ old: Int, by new: FolderContents, _ commit: () throws -> Void) throws -> Bool {
    try contents.withLock { contents in
      guard contents.generation == old else { return false }
      try commit()
      let keys = contents.lastKeys
      contents = new
      contents.lastKeys = keys
      return true
    }
  }

  fileprivate func write(_ contents: FolderContents) throws {
    let files = contents.files(entities)
    for (name, text) in files {
      try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
    }
    try "\(identifier)\n\(contents.generation)\n".write(
      to: folder.appendingPathComponent("store-\(contents.generation)"), atomically: false, encoding: .utf8)
  }

  fileprivate func commit(_ generation: Int) throws {
    let (new, old) = ("store-\(generation)", "store")
    guard rename(folder.appendingPathComponent(new).path, folder.appendingPathComponent(old).path) == 0 else {
      throw GraphError(.storeFailure, message: "\(folder.path): \(new) cannot be renamed")
    }
  }

  fileprivate func remove(_ generation: Int) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    where name.hasSuffix("-\(generation)") {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }
}

/// The contents of the store when the read began.
private final class FolderView: ReadSession {
  private let contents: FolderContents

  init(_ contents: FolderContents) { self.contents = contents }

  var canBeHeldOpen: Bool { true }

  /// The context evaluates conditions and order (`plan` has its default implementation); the store applies the window
  /// only.
  func rows(matching query: StoreQuery) -> any RowCursor { RowList(snapshots(matching: query)) }

  func snapshots(matching query: StoreQuery) -> [Snapshot] {
    let wanted = query.entity.indexes(includingSubentities: query.includesSubentities)
    let rows = contents.rows.values.filter { row in
      contents.model.entity(of: row.id).map { wanted.contains($0.index) } ?? false
    }
    let rest = rows.sorted { $0.id.number < $1.id.number }.dropFirst(query.offset)
    return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
  }

  func count(matching query: StoreQuery) -> Int { snapshots(matching: query).count }
  func snapshot(of id: ManagedObjectID) -> Snapshot? { contents.rows[id] }
  func snapshots(of ids: [ManagedObjectID]) -> [Snapshot] { ids.compactMap { contents.rows[$0] } }
  func destinations(of id: ManagedObjectID, relationship slot: Int) -> [ManagedObjectID] {
    contents.destinations(of: id, slot: slot)
  }
  func end() {}
}

/// A save works on a copy, so aborting has nothing to undo.
private final class FolderSession: SaveSession {
  private let store: FolderStore
  private let old: Int
  private var new: FolderContents
  private var isOver = false

  init(_ store: FolderStore) {
    self.store = store
    new = store.contents.withLock { $0 }
    old = new.generation
    new.generation += 1
  }

  func write(_ changes: StoreChanges) -> [SaveConflict] { new.write(changes) }
  func metadata() -> [String: Value] { new.metadata }
  func setMetadata(_ metadata: [String: Value]) { new.metadata = metadata }
  func prepare() throws { try store.write(new) }

  func commit() throws {
    guard try store.replace(old, by: new, { try store.commit(new.generation) }) else {
      throw GraphError(.storeBusy, message: "another save was quicker: try again")
    }
    isOver = true
    if old > 0 { store.remove(old) }
  }

  func abort() {
    if !isOver { store.remove(new.generation) }
    isOver = true
  }
}

extension ManagedObjectID {
  /// The primary key: the number after the `p` of `x-coredata://UUID/Person/p12`.
  fileprivate var number: Int64 { Int64(uriRepresentation.split(separator: "/").last?.dropFirst() ?? "") ?? 0 }
}
