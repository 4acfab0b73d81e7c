package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

/// Imports a whole store from a folder made by `moonbase export --all` into a new store. Rows keep their keys, and
/// lists their order.
///
/// Rows are written as in the files, without a context. Rules and hooks do not run, because they ran when the rows were
/// first saved. Each chunk is a single transaction, with its place in the ledger. The import has three phases: rows,
/// members of lists, and positions of members in lists. So the order of files does not matter.
package final class StoreImport {
  /// The number of rows in a transaction.
  private static let chunkSize = 2048
  /// Rows, members of lists, and positions in lists.
  private static let phases = 3
  /// The name of the import in the ledger.
  private static let job = "import --all"

  /// The folder to read.
  private let folder: ExportedFolder
  /// The store to fill, which must be empty unless an import was ended.
  private let store: any PersistentStore
  /// The model of the store.
  private let model: ResolvedModel
  /// The number that object IDs of the store carry.
  private let number: StoreNumber
  /// The entities with rows, by name.
  private let entities: [ResolvedEntity]
  /// All objects of the folder, known from the first reading.
  private var keys = FolderKeys()
  /// The number of objects in the folder.
  private let total: Int
  /// The number of lines processed in this run, in all phases.
  private var done = 0
  /// A digest of the files whose rows are imported.
  private var taken = ""

  /// Called between chunks. Returning true ends the import.
  package var progress: (_ done: Int, _ total: Int) -> Bool = { _, _ in false }
  /// The number of imported objects.
  package private(set) var count = 0
  /// Whether the import continues an earlier run.
  package let isResuming: Bool
  /// Whether the import is complete.
  package private(set) var isDone = false

  /// Checks the folder and the store without writing.
  ///
  /// Throws `ImportError` if the store has objects, if the import of another folder was ended, or
  /// if the folder has changed since.
  package init(_ folder: ExportedFolder, into store: any PersistentStore, of model: ResolvedModel) throws {
    (self.folder, self.store, self.model) = (folder, store, model)
    entities = try folder.entities(of: model)
    number = StoreNumber(store.identifier)
    total = folder.contents.entities.values.reduce(0) { $0 + $1.count }
    let entry = try Ledger.entry(Self.job, of: store)
    isResuming = entry != nil
    guard let entry else {
      try requireEmptyStore()
      return
    }
    guard entry["store"] == .string(folder.contents.store) else {
      throw ImportError(
        message: "the import of another folder into the store was ended: import that one, or take a new store")
    }
    try requireSameFiles(entry)
  }

  /// Throws if the imported part of the folder has changed. Lines that are not imported yet may have been corrected.
  ///
  /// Throws `ImportError` for a changed file. The digests are in the ledger.
  private func requireSameFiles(_ entry: Ledger.Entry) throws {
    let place = try place(entry)
    for entity in place.phase == 0 ? entities.prefix(place.entity) : entities[...] {
      taken = try folder.digest(of: entity, behind: taken)
    }
    guard entry["files"].map({ $0 == .string(taken) }) ?? true else { throw changed("what was read of it") }
    guard case .string(let before)? = entry["before"], place.entity < entities.count else { return }
    let entity = entities[place.entity]
    guard try folder.digest(of: entity, before: place.offset) != before else { return }
    throw changed(folder.path(of: entity))
  }

  /// The error that a part of the folder has changed.
  private func changed(_ what: String) -> ImportError {
    ImportError(
      message:
        "the import of a folder into the store was ended, and \(what) has changed since: import the folder as it was, "
        + "or make a new store of this one")
  }

  /// Throws `ImportError` that names an entity with objects.
  private func requireEmptyStore() throws {
    guard let (entity, count) = try store.firstObjects(in: model) else { return }
    throw ImportError(
      message:
        "the store has \(count) object\(count == 1 ? "" : "s") of \(entity.name) already: import --all makes a new store"
    )
  }

  // MARK: Running

  /// Imports everything, or until `progress` ends it.
  ///
  /// The ledger's entry is removed at the end. Throws `ImportError` for a line that cannot be
  /// imported, with its file and number; earlier chunks stay saved.
  package func run() throws {
    keys = try FolderKeys(folder, entities, of: model)
    var place = try place(Ledger.entry(Self.job, of: store) ?? [:])
    if place.isBeginning {
      try store.change(MetadataChange(of: store, try change(to: place)))
      try reserveKeys()
    }
    while place.phase < Self.phases {
      guard place.entity < entities.count else {
        place = Place(phase: place.phase + 1)
        continue
      }
      guard try importEntity(&place) else { return }
    }
    try store.change(Ledger.change(Self.job, of: store) { _ in nil })
    isDone = true
  }

  /// The position of the import: phase, entity and line.
  private struct Place {
    /// The number of the phase, from 0.
    var phase = 0
    /// The index in `entities`.
    var entity = 0
    /// The position in the entity's file, in bytes.
    var offset: Int64 = 0
    /// The line at `offset`, from 1.
    var line: Int64 = 1

    /// Whether nothing was imported yet.
    var isBeginning: Bool { phase == 0 && entity == 0 && offset == 0 }

    /// The beginning of a phase.
    init(phase: Int = 0) { self.phase = phase }
  }

  /// The position recorded in an entry of the ledger.
  private func place(_ entry: Ledger.Entry) throws -> Place {
    let reader = LedgerReader(entry, of: Self.job, advice: "make a new store of the folder")
    var place = Place(phase: Int(try reader.number("phase", in: 0...2)))
    place.entity = Int(try reader.number("entity", in: 0...Int64(entities.count)))
    place.offset = try reader.number("offset")
    place.line = try reader.number("line", in: 1...LedgerReader.greatestCount, otherwise: 1)
    return place
  }

  /// The change of the ledger that records a position.
  private func change(to place: Place) throws -> MetadataChange.Body {
    var entry: Ledger.Entry = [
      "kind": .string(Self.job), "store": .string(folder.contents.store), "phase": .int(Int64(place.phase)),
      "entity": .int(Int64(place.entity)), "offset": .int(place.offset), "line": .int(place.line),
      "files": .string(taken),
    ]
    if place.entity < entities.count {
      entry["before"] = .string(try folder.digest(of: entities[place.entity], before: place.offset))
    }
    return Ledger.change(Self.job, of: store) { [entry] _ in entry }.body
  }

  /// Imports an entity from a position on, in chunks. Returns false if it was ended early.
  ///
  /// `place` is advanced chunk by chunk, and to the next entity at the end of a file.
  private func importEntity(_ place: inout Place) throws -> Bool {
    let entity = entities[place.entity]
    let reader = try folder.reader(of: entity, from: place.offset, line: place.line)
    let slots = Slots(entity, phase: place.phase, model)
    guard !slots.isEmpty else {
      place.entity += 1
      (place.offset, place.line) = (0, 1)
      return true
    }
    while true {
      var changes = StoreChanges()
      var rows: [Snapshot] = []
      var read = 0
      var known = 0
      while read < Self.chunkSize, try folder.next(reader, of: entity) {
        read += 1
        do {
          if place.phase == 0 {
            try requireKnown(reader.names, from: &known, of: entity)
            rows.append(try row(reader, of: entity, slots))
          } else {
            try addLinks(reader, of: entity, slots, areOrders: place.phase == 2, to: &changes)
          }
        } catch let fault as RowFault {
          throw ImportError(
            message: "\(folder.path(of: entity)), line \(reader.line)\(fault.column.map { ", \($0)" } ?? "")"
              + "\(fault.value.map { " ('\($0.prefix(60))')" } ?? ""): \(fault.reason)")
        }
      }
      if read == 0 {
        if place.phase == 0 { taken = try folder.digest(of: entity, behind: taken) }
        place.entity += 1
        (place.offset, place.line) = (0, 1)
        return true
      }
      changes.inserted = RowBatch(rows)
      (place.offset, place.line) = (reader.recordEnd, reader.endLine)
      changes.metadataChange = try change(to: place)
      changes.destinationsMayFollow = true
      try store.save(changes)
      if place.phase == 0 { count += read }
      done += read
      if progress(done, total * Self.phases) { return false }
    }
  }

  // MARK: Keys

  /// Reserves keys up to the greatest, so that each object keeps its own.
  ///
  /// A store that already numbers objects from a greater key is refused.
  private func reserveKeys() throws {
    for (root, greatest) in keys.greatest {
      let entity = model.entities[root]
      let first = try store.reserveKeys(for: entity, count: Int(greatest))
      guard first == 1 || isResuming else {
        throw ImportError(
          message:
            "the store numbers objects of \(entity.name) from \(first): import --all makes a new store, which numbers from 1"
        )
      }
    }
  }

  /// The object here for a URI of the other store.
  ///
  /// Throws `RowFault` for a text that is no URI, and for an object that is not in the folder.
  private func id(_ uri: String, column: String) throws -> ManagedObjectID {
    guard let (entity, key) = ExportedFolder.object(uri, in: model) else {
      throw RowFault(column: column, value: uri, reason: "it is no URI of an object of the model")
    }
    guard keys.contains(key, of: entity.root) else {
      throw RowFault(column: column, value: uri, reason: "there is no such object in the folder")
    }
    return ManagedObjectID(store: number, entity: entity.symbol, key: key)
  }

  // MARK: Rows

  /// The slots that are imported from the lines of an entity.
  ///
  /// In the first phase the attributes and to-one relationships, later the lists.
  private struct Slots {
    /// The attributes and to-one relationships.
    var single: [(slot: Slot, property: ResolvedProperty)] = []
    /// The to-many relationships whose links or positions are written.
    var lists: [ResolvedProperty] = []

    /// Whether the phase has nothing to do for the entity.
    var isEmpty: Bool { single.isEmpty && lists.isEmpty && !takesRows }
    /// Whether the rows themselves are written, also rows without properties.
    private let takesRows: Bool

    /// The slots of an entity in a phase.
    init(_ entity: ResolvedEntity, phase: Int, _ model: ResolvedModel) {
      takesRows = phase == 0
      for property in entity.properties where !property.isTransient {
        if property.relationship?.isToMany == true {
          let isMeant = phase == 1 || phase == 2 && property.relationship?.isOrdered == true
          if isMeant, property.hasLinks { lists.append(property) }
        } else if phase == 0 {
          single.append((property.slot, property))
        }
      }
    }
  }

  /// Refuses columns without a place in the model, which would be silently omitted.
  ///
  /// Throws `RowFault`. `known` is the number of names that were checked before.
  private func requireKnown(_ names: [String], from known: inout Int, of entity: ResolvedEntity) throws {
    for name in names[known...] where name != "_id" {
      guard entity.property(name)?.isTransient == false else {
        throw RowFault(
          column: name,
          reason:
            "\(entity.name) keeps no property of this name: give the store the model \(folder.path)/\(ExportContents.modelName), or take the name out of all lines"
        )
      }
    }
    known = names.count
  }

  /// The row of a line. Throws `RowFault` for a missing key or property, or a value in another
  /// form.
  private func row(_ reader: JSONReader, of entity: ResolvedEntity, _ slots: Slots) throws -> Snapshot {
    guard let key = reader.id.flatMap(ExportedFolder.key) else { throw RowFault(reason: "it has no _id") }
    var values = [Value](repeating: .null, count: entity.properties.count)
    for (slot, property) in slots.single {
      guard let column = reader.column(named: property.name) else {
        throw RowFault(column: property.name, reason: "the line says nothing of it")
      }
      let field = reader.field(column)
      switch field.kind {
      case .missing: throw RowFault(column: property.name, reason: "the line says nothing of it")
      case .none: break
      default:
        values[slot] =
          if let attribute = property.attribute {
            try StoredForm.value(field, of: attribute, column: property.name)
          } else {
            .objectID(try id(field.text ?? "", column: property.name))
          }
      }
    }
    return Snapshot(id: ManagedObjectID(store: number, entity: entity.symbol, key: key), version: 1, values: values)
  }

  /// Adds the links of a line to the changes, or with `areOrders` the positions of its links.
  private func addLinks(
    _ reader: JSONReader, of entity: ResolvedEntity, _ slots: Slots, areOrders: Bool, to changes: inout StoreChanges
  ) throws {
    guard let key = reader.id.flatMap(ExportedFolder.key) else { throw RowFault(reason: "it has no _id") }
    let owner = ManagedObjectID(store: number, entity: entity.symbol, key: key)
    for property in slots.lists {
      guard let column = reader.column(named: property.name), case let field = reader.field(column),
        field.kind == .nested, case .list(let list)? = try? Value(json: field.bytes)
      else { throw RowFault(column: property.name, reason: "a list of URIs is expected") }
      let members = try list.map { try id($0.text ?? "\($0)", column: property.name) }
      guard var links = StoreChanges.Links(all: members, of: owner, property, in: model) else { continue }
      if areOrders { links.added = [] } else { links.order = nil }
      if !links.added.isEmpty || links.order != nil { changes.links.append(links) }
    }
  }
}
