package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

/// All of a store out of a folder that `moonbase export --all` made, into a new one: rows keep their keys, and lists their order.
///
/// Rows are written as they stand there, past contexts: no rule and no hook is asked, for they were when the rows came to be. Each chunk is one transaction
/// with its place in the ledger. First come rows, and then, when all are there, lists.
package final class StoreImport {
  private static let chunkSize = 2048
  private static let job = "import --all"

  private let folder: String
  private let contents: ExportContents
  private let store: any PersistentStore
  private let model: ResolvedModel
  private let number: StoreNumber
  /// The entities that have rows, in an order that is the same for each run.
  private let entities: [ResolvedEntity]
  /// The keys that there are, by root entity.
  private var keys: [EntityIndex: KeySet] = [:]
  private let total: Int
  private var done = 0

  /// Called between chunks; true ends the import there.
  package var progress: (_ done: Int, _ total: Int) -> Bool = { _, _ in false }
  /// How many objects came.
  package private(set) var count = 0
  /// Whether it goes on where an earlier run stood.
  package let isGoingOn: Bool
  /// Whether all is there.
  package private(set) var isDone = false

  /// Looks at the folder and the store, and writes nothing.
  package init(_ folder: String, into store: any PersistentStore, of model: ResolvedModel) throws {
    (self.folder, self.store, self.model) = (folder, store, model)
    number = StoreNumber(store.identifier)
    contents = try Self.contents(of: folder)
    entities = try contents.entities.keys.sorted().map { name in
      guard let entity = model.entity(name), !entity.isAbstract else {
        throw ImportError(
          message:
            "\(folder)/\(ExportContents.fileName) names \(name), which the model of the store has not: give the store the "
            + "model \(folder)/\(ExportContents.modelName)")
      }
      return entity
    }
    total = contents.entities.values.reduce(0) { $0 + $1.count }
    let entry = try Ledger.entry(Self.job, of: store)
    isGoingOn = entry != nil
    if let entry {
      guard entry["store"] == .string(contents.store) else {
        throw ImportError(
          message: "the import of another folder into the store was ended: import that one, or take a new store")
      }
    } else {
      try requireEmptyStore()
    }
  }

  /// What a folder holds.
  package static func contents(of folder: String) throws -> ExportContents {
    let path = "\(folder)/\(ExportContents.fileName)"
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ImportError(
        message: "\(folder) is no folder that moonbase export --all made: it has no \(ExportContents.fileName)")
    }
    let contents: ExportContents
    do { contents = try JSONDecoder().decode(ExportContents.self, from: data) } catch {
      throw ImportError(message: "\(path) is not what moonbase export --all writes")
    }
    guard contents.format == ExportContents.format, contents.version == 1 else {
      throw ImportError(message: "\(path) is of version \(contents.version), which this command does not know")
    }
    try contents.requireFiles(in: folder)
    return contents
  }

  private func requireEmptyStore() throws {
    guard let (entity, count) = try store.firstObjects(in: model) else { return }
    throw ImportError(
      message:
        "the store has \(count) object\(count == 1 ? "" : "s") of \(entity.name) already: import --all makes a new store"
    )
  }

  // MARK: Running

  /// Imports all, or up to where `progress` ends it.
  package func run() throws {
    try readKeys()
    var place = Place(try Ledger.entry(Self.job, of: store))
    if place.isBeginning {
      try store.change(MetadataChange(of: store, change(to: place)))
      try reserveKeys()
    }
    while place.phase < 2 {
      guard place.entity < entities.count else {
        place = Place(phase: place.phase + 1)
        continue
      }
      guard try take(&place) else { return }
    }
    try store.change(Ledger.change(Self.job, of: store) { _ in nil })
    isDone = true
  }

  /// Where the import stands: rows or lists, of which entity, and behind which line.
  private struct Place {
    var phase = 0
    var entity = 0
    var offset: Int64 = 0
    var line: Int64 = 1

    var isBeginning: Bool { phase == 0 && entity == 0 && offset == 0 }

    init(phase: Int) { self.phase = phase }

    init(_ entry: Ledger.Entry?) {
      phase = Int(entry?.number("phase") ?? 0)
      entity = Int(entry?.number("entity") ?? 0)
      offset = entry?.number("offset") ?? 0
      line = entry?.number("line") ?? 1
    }
  }

  private func change(to place: Place) -> MetadataChange.Body {
    let entry: Ledger.Entry = [
      "kind": .string(Self.job), "store": .string(contents.store), "phase": .int(Int64(place.phase)),
      "entity": .int(Int64(place.entity)), "offset": .int(place.offset), "line": .int(place.line),
    ]
    return Ledger.change(Self.job, of: store) { _ in entry }.body
  }

  private func reader(of entity: ResolvedEntity, from place: Place? = nil) throws -> (JSONReader, String) {
    let path = "\(folder)/\(contents.entities[entity.name]?.file ?? "")"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw ImportError(message: "\(path): \(String(cString: strerror(errno)))") }
    return try naming(path) {
      let reader = try JSONReader(InputBytes(descriptor, closes: true), isArray: false)
      if let place, place.offset > 0 { try reader.skip(to: place.offset, line: place.line) }
      return (reader, path)
    }
  }

  private func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as InputError { throw ImportInput.error(error, path) }
  }

  /// All of one entity from a place on, in chunks. False where it was ended before.
  private func take(_ place: inout Place) throws -> Bool {
    let entity = entities[place.entity]
    let (reader, path) = try reader(of: entity, from: place)
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
      while read < Self.chunkSize, try naming(path, { try reader.next() }) {
        read += 1
        do {
          if place.phase == 0 {
            try requireKnown(reader.names, from: &known, of: entity)
            rows.append(try row(reader, of: entity, slots))
          } else {
            try addLinks(reader, of: entity, slots, to: &changes)
          }
        } catch let fault as RowFault {
          throw ImportError(
            message: "\(path), line \(reader.line)\(fault.column.map { ", \($0)" } ?? "")"
              + "\(fault.value.map { " ('\($0.prefix(60))')" } ?? ""): \(fault.reason)")
        }
      }
      if read == 0 {
        place.entity += 1
        (place.offset, place.line) = (0, 1)
        return true
      }
      changes.inserted = RowBatch(rows)
      (place.offset, place.line) = (reader.recordEnd, reader.endLine)
      changes.metadataChange = change(to: place)
      changes.destinationsMayFollow = true
      try store.save(changes)
      if place.phase == 0 { count += read }
      done += read
      if progress(done, total * 2) { return false }
    }
  }

  // MARK: Keys

  /// Reads which objects there are, so that no row leads to one that there is not.
  private func readKeys() throws {
    for entity in entities {
      let (reader, path) = try reader(of: entity)
      var count = 0
      var known = keys.removeValue(forKey: entity.root) ?? KeySet()
      while try naming(path, { try reader.next() }) {
        guard let id = reader.id, let key = Self.key(id) else {
          throw ImportError(
            message: "\(path), line \(reader.line): it has no _id, as x-coredata://STORE/\(entity.name)/p1")
        }
        guard known.insert(key) else {
          throw ImportError(message: "\(path), line \(reader.line): there are two objects of the _id \(id)")
        }
        count += 1
      }
      keys[entity.root] = known
      let wanted = contents.entities[entity.name]?.count ?? 0
      guard count == wanted else {
        throw ImportError(
          message: "\(path) has \(count) objects, and \(ExportContents.fileName) says \(wanted): the file is not whole")
      }
    }
  }

  /// As many keys as there may be, so that each object keeps its own.
  private func reserveKeys() throws {
    for root in keys.keys.sorted() {
      let entity = model.entities[root]
      guard let greatest = keys[root]?.greatest, greatest > 0 else { continue }
      let first = try store.reserveKeys(for: entity, count: Int(greatest))
      guard first == 1 || isGoingOn else {
        throw ImportError(
          message:
            "the store numbers objects of \(entity.name) from \(first): import --all makes a new store, which numbers from 1"
        )
      }
    }
  }

  /// The key in a URI `x-coredata://STORE/Entity/p12`.
  private static func key(_ uri: String) -> Int64? {
    guard uri.hasPrefix("x-coredata://"), let place = uri.lastIndex(of: "p"), place > uri.startIndex,
      uri[uri.index(before: place)] == "/"
    else { return nil }
    return Int64(uri[uri.index(after: place)...]).flatMap { $0 > 0 ? $0 : nil }
  }

  /// The object that a URI of the other store means here.
  private func id(_ uri: String, column: String) throws -> ManagedObjectID {
    let parts = uri.split(separator: "/")
    guard parts.count == 4, let key = Self.key(uri), let entity = model.entity(String(parts[2])) else {
      throw RowFault(column: column, value: uri, reason: "it is no URI of an object of the model")
    }
    guard keys[entity.root]?.contains(key) == true else {
      throw RowFault(column: column, value: uri, reason: "there is no such object in the folder")
    }
    return ManagedObjectID(store: number, entity: entity.symbol, key: key)
  }

  // MARK: Rows

  /// What is taken of the lines of an entity.
  private struct Slots {
    var single: [(slot: Slot, property: ResolvedProperty)] = []
    var lists: [ResolvedProperty] = []

    var isEmpty: Bool { single.isEmpty && lists.isEmpty && !takesRows }
    private let takesRows: Bool

    init(_ entity: ResolvedEntity, phase: Int, _ model: ResolvedModel) {
      takesRows = phase == 0
      for property in entity.properties where !property.isTransient {
        if property.relationship?.isToMany == true {
          if phase == 1, property.hasLinks { lists.append(property) }
        } else if phase == 0 {
          single.append((property.slot, property))
        }
      }
    }
  }

  /// What the model has no place for would be left out in silence.
  private func requireKnown(_ names: [String], from known: inout Int, of entity: ResolvedEntity) throws {
    for name in names[known...] where name != "_id" {
      guard entity.property(name)?.isTransient == false else {
        throw RowFault(
          column: name,
          reason:
            "\(entity.name) keeps no property of this name: give the store the model \(folder)/\(ExportContents.modelName), or take the name out of all lines"
        )
      }
    }
    known = names.count
  }

  private func row(_ reader: JSONReader, of entity: ResolvedEntity, _ slots: Slots) throws -> Snapshot {
    guard let key = reader.id.flatMap(Self.key) else { throw RowFault(reason: "it has no _id") }
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

  private func addLinks(
    _ reader: JSONReader, of entity: ResolvedEntity, _ slots: Slots, to changes: inout StoreChanges
  ) throws {
    guard let key = reader.id.flatMap(Self.key) else { throw RowFault(reason: "it has no _id") }
    let owner = ManagedObjectID(store: number, entity: entity.symbol, key: key)
    for property in slots.lists {
      guard let column = reader.column(named: property.name), case let field = reader.field(column),
        field.kind == .nested, case .list(let list)? = try? Value(json: field.bytes)
      else { throw RowFault(column: property.name, reason: "a list of URIs is expected") }
      let members = try list.map { try id($0.text ?? "\($0)", column: property.name) }
      if let links = StoreChanges.Links(all: members, of: owner, property, in: model) { changes.links.append(links) }
    }
  }
}

extension JSONReader {
  func column(named name: String) -> Int? { names.firstIndex(of: name) }

  /// The object's URI.
  fileprivate var id: String? { column(named: "_id").flatMap { field($0).kind == .text ? field($0).text : nil } }
}

/// A set of keys, most of which stand close together.
private struct KeySet {
  private var dense: [UInt64] = []
  private var others: Set<Int64> = []
  private(set) var greatest: Int64 = 0

  /// False where it was there.
  mutating func insert(_ key: Int64) -> Bool {
    greatest = max(greatest, key)
    // Sixty-four million keys in eight megabytes.
    guard key < 1 << 26 else { return others.insert(key).inserted }
    let (word, bit) = (Int(key >> 6), UInt64(1) << UInt64(key & 63))
    while dense.count <= word { dense.append(contentsOf: repeatElement(0, count: max(1024, dense.count))) }
    guard dense[word] & bit == 0 else { return false }
    dense[word] |= bit
    return true
  }

  func contains(_ key: Int64) -> Bool {
    guard key < 1 << 26 else { return others.contains(key) }
    let word = Int(key >> 6)
    return word < dense.count && dense[word] & 1 << UInt64(key & 63) != 0
  }
}
