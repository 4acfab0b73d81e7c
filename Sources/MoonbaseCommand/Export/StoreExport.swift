import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// The export of a whole store into a folder. The folder contains a file of JSON lines for each entity that has rows,
/// the model, and a table of contents.
///
/// The export is written from the stored rows, in one consistent state. It calls no transformers and no hooks. A value
/// that cannot be read ends it.
struct StoreExport {
  /// The table of contents, which `MoonbaseBatch` defines.
  typealias Contents = ExportContents

  /// The number of bytes after which the buffer is written.
  private static let greatestBuffer = 1 << 16
  /// The number of attempts to read a consistent state.
  private static let greatestTries = 3
  /// The number of waits for a new modification time.
  private static let greatestWait = 20

  /// The store to export.
  private let store: any PersistentStore
  /// The model of the store.
  private let model: ResolvedModel
  /// The folder to write.
  private let folder: ExportFolder
  /// The progress bar.
  private let bar: ProgressBar
  /// The number of rows written.
  private var done = 0
  /// The number of rows of all entities.
  private var total = 0
  /// The text that is not written yet.
  private var json = CellJSON()
  /// The keys of the exported rows by root entity, if rows are left out: relationships to these are left out too.
  private var keys: [EntityIndex: Set<Int64>]?
  /// Whether rows are left out.
  private let leavesOutRows: Bool

  /// An export of a store.
  ///
  /// - Parameter leftOut: The rows of the store that are no objects.
  init(
    _ store: any PersistentStore, of model: ResolvedModel, to folder: ExportFolder, leaving leftOut: LeftOutRows,
    showing bar: ProgressBar
  ) {
    (self.store, self.model, self.folder, self.bar) = (store, model, folder, bar)
    leavesOutRows = !leftOut.isEmpty
  }

  /// Writes all files. The folder appears when it is complete.
  ///
  /// Throws `.storeBusy` if the store changes during each attempt, and `.interrupted` after SIGINT.
  mutating func run() throws -> Contents {
    let source = try model.description.luaSource()
    for _ in 0..<Self.greatestTries {
      guard let contents = try writeOneState() else { continue }
      try folder.write(Array(source.utf8), to: Contents.modelName)
      try folder.write(Array((Terminal.json(contents) + "\n").utf8), to: Contents.fileName)
      try folder.finish()
      return contents
    }
    throw GraphError(
      .storeBusy,
      message:
        "\(store.name) was written to all the while, and has no log beside which it could be read: try again when nobody saves"
    )
  }

  // MARK: One state

  /// Returns nil if the store has no write-ahead log and was changed during the export. The rows may then be from
  /// several states.
  private mutating func writeOneState() throws -> Contents? {
    let view = try store.beginReading(.view)
    defer { view.end() }
    let before = view.isConsistent ? nil : footprint()
    var contents = Contents(store: store.identifier)
    try folder.empty()
    let entities = store.entities.filter { !$0.isAbstract }
    var counts: [Int] = []
    for entity in entities { counts.append(try view.count(matching: query(for: entity))) }
    (done, total) = (0, counts.reduce(0, +))
    if leavesOutRows {
      var keys: [EntityIndex: Set<Int64>] = [:]
      for entity in entities {
        let ids = try view.objectIDs(matching: query(for: entity))
        keys[entity.root, default: []].formUnion(ids.lazy.map(\.key))
      }
      self.keys = keys
    }
    for (entity, count) in zip(entities, counts) where count > 0 {
      let name = Self.fileName(of: entity)
      contents.entities[entity.name] = .init(file: name, count: try write(entity, to: folder.file(name), view))
    }
    return before == nil || before == footprint() ? contents : nil
  }

  /// Properties of the files that change when another process writes to the store.
  private func footprint() -> [[Int]] {
    guard let path = store.url?.path else { return [] }
    let files = ["", "-wal", "-journal"].map { path + $0 }
    // Two writes may have the same time if the clock of the file system is coarse.
    for _ in 0..<Self.greatestWait where files.contains(where: FileIdentity.isFresh) { usleep(5_000) }
    return files.map(FileIdentity.footprint)
  }

  /// The query for the rows of an entity without its subentities.
  private func query(for entity: ResolvedEntity) throws -> StoreQuery {
    var query = StoreQuery(entity: entity, in: model, includesSubentities: false)
    query.leavesOutStrayRows = true
    return try store.plan(query).query
  }

  /// The file name for the entity. Characters that are not allowed in it are percent-encoded.
  private static func fileName(of entity: ResolvedEntity) -> String {
    let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "_-"))
    return (entity.name.addingPercentEncoding(withAllowedCharacters: plain) ?? entity.name) + ".ndjson"
  }

  // MARK: Rows

  /// Writes the rows of an entity, and returns their number.
  private mutating func write(
    _ entity: ResolvedEntity, to file: OutputDestination, _ view: any ReadSession
  ) throws -> Int {
    let single = (entity.attributeSlots + entity.toOneSlots).filter { !entity.properties[$0].isTransient }.sorted()
    let lists = entity.toManySlots.filter { !entity.properties[$0].isTransient }
    let keys = entity.properties.map { property in
      var key = Array(", ".utf8)
      key.append(quoted: property.name)
      return key + Array(": ".utf8)
    }
    var count = 0
    try Self.forEachBatch(matching: query(for: entity), view) { batch in
      try folder.checkInterruption()
      let ids = batch.map(\.id)
      let members = try lists.map { try view.destinations(of: ids, relationship: $0) }
      for (place, row) in batch.enumerated() {
        json.bytes.append(contentsOf: #"{"_id": "#.utf8)
        json.append(uri: row.id)
        for slot in single {
          json.bytes.append(contentsOf: keys[slot])
          try write(row, slot, of: entity)
        }
        for (slot, members) in zip(lists, members) {
          json.bytes.append(contentsOf: keys[slot])
          try write(members[place], to: file)
        }
        json.bytes.append(contentsOf: "}\n".utf8)
        try flush(to: file, isLast: false)
      }
      count += batch.count
      done += batch.count
      bar.show(min(done, total), of: total)
    }
    try flush(to: file, isLast: true)
    try file.finish()
    return count
  }

  /// Passes the rows to `body` in batches and by ascending key. If the session does not see one consistent state, a
  /// cursor would read all rows at once. In that case, the rows are read by their keys.
  private static func forEachBatch(
    matching query: StoreQuery, _ view: any ReadSession, _ body: ([Snapshot]) throws -> Void
  ) throws {
    if view.isConsistent {
      let cursor = try view.rows(matching: query)
      while case let batch = try cursor.next(upTo: [Snapshot].batchSize), !batch.isEmpty { try body(Array(batch)) }
      return
    }
    let ids = try view.objectIDs(matching: query)
    for start in stride(from: 0, to: ids.count, by: [Snapshot].batchSize) {
      let part = Array(ids[start..<min(ids.count, start + [Snapshot].batchSize)])
      try body(view.snapshots(of: part).sorted { $0.id.key < $1.id.key })
    }
  }

  /// Whether a destination is exported.
  private func isExported(_ id: ManagedObjectID) -> Bool {
    guard let keys, let entity = model.entity(of: id) else { return true }
    return keys[entity.root]?.contains(id.key) == true
  }

  /// Writes a list of destinations as URIs.
  private mutating func write(_ members: [ManagedObjectID], to file: OutputDestination) throws {
    json.bytes.append(UInt8(ascii: "["))
    for (place, member) in members.filter(isExported).enumerated() {
      if place > 0 { json.bytes.append(contentsOf: ", ".utf8) }
      json.append(uri: member)
      try flush(to: file, isLast: false)
    }
    json.bytes.append(UInt8(ascii: "]"))
  }

  /// Writes the buffer if it is full or the file ends.
  private mutating func flush(to file: OutputDestination, isLast: Bool) throws {
    guard isLast || json.bytes.count >= Self.greatestBuffer else { return }
    try json.bytes.withUnsafeBytes { try file.write($0) }
    json.bytes.removeAll(keepingCapacity: true)
  }

  /// Writes a value of a row. Errors name the property.
  private mutating func write(_ row: Snapshot, _ slot: Slot, of entity: ResolvedEntity) throws {
    let (name, property) = (entity.name, entity.properties[slot].name)
    var cell = row.cell(slot)
    switch cell {
    case .reference(let id) where !isExported(id), .value(.objectID(let id)) where !isExported(id): cell = .null
    default: break
    }
    do {
      try json.append(cell) {
        GraphError(.storeFailure, message: "\(name).\(property) of \(row.id) is not UTF-8: assign it anew, or none")
      }
    } catch var error as GraphError where error.property == nil {
      if !error.message.contains(property) { error.message = "\(name).\(property) of \(row.id): \(error.message)" }
      (error.entity, error.property, error.objectID) = (name, property, row.id)
      throw error
    }
  }
}
