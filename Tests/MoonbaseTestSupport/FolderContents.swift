import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The rows and links of a `FolderStore`.
struct FolderContents: Sendable {
  /// A relationship of an object.
  struct End: Hashable {
    var id: ManagedObjectID
    var name: String
  }

  let model: ResolvedModel
  var generation = 0
  var metadata: [String: Value] = [:]
  var lastKeys: [Int: Int64] = [:]
  var rows: [ManagedObjectID: Snapshot] = [:]
  /// Destinations of many-to-many relationships and of relationships without an inverse, from both sides.
  private var links: [End: [ManagedObjectID]] = [:]
  /// The last saved order of ordered relationships.
  private var orders: [End: [ManagedObjectID]] = [:]

  init(model: ResolvedModel) { self.model = model }

  // MARK: Reading

  func destinations(of id: ManagedObjectID, slot: Int) -> [ManagedObjectID] {
    guard let property = model.entity(of: id)?.properties[slot], let relationship = property.relationship else {
      return []
    }
    let end = End(id: id, name: property.name)
    let found: [ManagedObjectID]
    if !relationship.isManyToMany, let inverse = relationship.inverseSlot {
      let root = model.destination(of: relationship)
      found = rows.values.filter { row in
        model.entity(of: row.id)?.isKind(of: root) == true && row.values[inverse] == .objectID(id)
      }.map(\.id).sorted { "\($0)" < "\($1)" }
    } else {
      found = (links[end] ?? []).filter { rows[$0] != nil }
    }
    guard let order = orders[end] else { return found }
    return order.filter(found.contains) + found.filter { !order.contains($0) }
  }

  // MARK: Writing

  /// Writes changes, or returns the conflicts; after conflicts the instance must be discarded.
  mutating func write(_ changes: StoreChanges) -> [SaveConflict] {
    let expected =
      changes.updated.map { ($0.snapshot.id, $0.expectedVersion) }
      + changes.deleted.map { ($0.id, $0.expectedVersion) }
    let versions: [SaveConflict] = expected.compactMap { id, version in
      guard let version, version != rows[id]?.version else { return nil }
      guard let found = rows[id] else { return SaveConflict(id, .deleted) }
      return SaveConflict(id, .changed(expected: version, found: found.version), foundRow: found)
    }
    if !versions.isEmpty { return versions }
    for row in changes.inserted + changes.updated.map(\.snapshot) { rows[row.id] = row }
    for deletion in changes.deleted { remove(deletion.id) }
    for change in changes.links { apply(change) }
    for change in changes.links { arrange(change) }
    for (end, ids) in orders {
      guard let slot = model.entity(of: end.id)?.slot(end.name) else { continue }
      let there = Set(destinations(of: end.id, slot: slot))
      orders[end] = ids.filter(there.contains)
    }
    return looseEnds(of: changes) + doubles(in: changes)
  }

  private mutating func remove(_ id: ManagedObjectID) {
    rows[id] = nil
    for (end, ids) in links where end.id == id || ids.contains(id) {
      links[end] = end.id == id ? nil : ids.filter { $0 != id }
    }
    for end in orders.keys where end.id == id { orders[end] = nil }
  }

  private mutating func apply(_ change: StoreChanges.Links) {
    guard let property = model.entity(of: change.owner)?.properties[change.slot],
      let relationship = property.relationship
    else { return }
    let inverse = relationship.inverseSlot.map { model.destination(of: relationship).properties[$0].name }
    for (ids, isThere) in [(change.removed, false), (change.added, true)] {
      for id in ids {
        set(End(id: change.owner, name: property.name), id: id, isThere: isThere)
        if let inverse { set(End(id: id, name: inverse), id: change.owner, isThere: isThere) }
      }
    }
  }

  private mutating func arrange(_ change: StoreChanges.Links) {
    guard let order = change.order, let name = model.entity(of: change.owner)?.properties[change.slot].name else {
      return
    }
    let end = End(id: change.owner, name: name)
    var list = destinations(of: change.owner, slot: change.slot)
    switch order {
    case .all(let ids): list = ids
    case .stretches(let stretches):
      let moved = Set(stretches.flatMap { stretch in stretch.moved.map { stretch.ids[$0] } })
      list.removeAll(where: moved.contains)
      for stretch in stretches {
        for index in stretch.moved {
          let before = index > 0 ? list.firstIndex(of: stretch.ids[index - 1]) : -1
          list.insert(stretch.ids[index], at: before.map { $0 + 1 } ?? list.count)
        }
      }
    case .appended(let ids, let returned):
      let known = Set(orders[end] ?? []).subtracting(returned)
      let coming = ids.filter { !known.contains($0) }
      list = list.filter { !coming.contains($0) } + coming
    }
    orders[end] = list
  }

  private mutating func set(_ end: End, id: ManagedObjectID, isThere: Bool) {
    links[end, default: []].removeAll { $0 == id }
    if isThere { links[end, default: []].append(id) }
  }

  /// Dangling references of the changes, and rows that refer to deleted objects.
  private func looseEnds(of changes: StoreChanges) -> [SaveConflict] {
    var conflicts: [SaveConflict] = []
    let changed =
      changes.inserted.map { ($0, Set($0.values.indices)) }
      + changes.updated.map { ($0.snapshot, Set($0.changedSlots)) }
    for (row, slots) in changed {
      guard let entity = model.entity(of: row.id) else { continue }
      for slot in entity.toOneSlots where slots.contains(slot) {
        guard case .objectID(let id) = row.values[slot], rows[id] == nil else { continue }
        let name = entity.properties[slot].name
        conflicts.append(SaveConflict(row.id, .destinationIsGone(relationship: name, id)))
      }
    }
    for change in changes.links {
      guard let name = model.entity(of: change.owner)?.properties[change.slot].name else { continue }
      if !change.added.isEmpty, rows[change.owner] == nil { conflicts.append(SaveConflict(change.owner, .deleted)) }
      for id in change.added where rows[id] == nil {
        conflicts.append(SaveConflict(change.owner, .destinationIsGone(relationship: name, id)))
      }
    }
    for deletion in changes.deleted {
      for slot in model.entity(of: deletion.id)?.toManySlots ?? [] {
        guard let property = model.entity(of: deletion.id)?.properties[slot], let relationship = property.relationship,
          !relationship.isManyToMany, relationship.inverseSlot != nil, relationship.description.deleteRule != .noAction
        else { continue }
        for id in destinations(of: deletion.id, slot: slot) {
          conflicts.append(SaveConflict(deletion.id, .destinationWasAdded(relationship: property.name, id)))
        }
      }
    }
    return conflicts
  }

  /// Rows whose unique values another row has.
  private func doubles(in changes: StoreChanges) -> [SaveConflict] {
    var found: [SaveConflict] = []
    for row in changes.inserted + changes.updated.map(\.snapshot) {
      guard let entity = model.entity(of: row.id) else { continue }
      for slots in entity.uniquenessConstraints {
        let values = slots.map { row.values[$0] }
        let declaring = slots.first.map { model.entities[entity.properties[$0].declaringEntity] } ?? entity
        guard !values.contains(.null) else { continue }
        let other = rows.values.first { other in
          other.id != row.id && model.entity(of: other.id)?.isKind(of: declaring) == true
            && slots.map { other.values[$0] } == values
        }
        guard let other else { continue }
        let names = slots.map { entity.properties[$0].name }
        found.append(SaveConflict(row.id, .sameValues(properties: names, as: other.id)))
        break
      }
    }
    return found
  }

  // MARK: Files

  /// The texts of the files for each entity, for links, and for the rest.
  func files(_ entities: [ResolvedEntity]) -> [(name: String, text: String)] {
    let rows = Dictionary(grouping: rows.values) { $0.id.entityName }
    var files = entities.map { entity in
      let lines = (rows[entity.name] ?? []).map { row in
        ([row.id.uriRepresentation, "\(row.version)"] + row.values.map(Self.text)).joined(separator: "\t")
      }
      return ("\(entity.name)-\(generation)", lines.sorted().joined(separator: "\n"))
    }
    let ends = [("link", links), ("order", orders)].flatMap { kind, ends in
      ends.map { end, ids in
        ([kind, end.id.uriRepresentation, end.name] + ids.map(\.uriRepresentation)).joined(separator: "\t")
      }
    }
    let others =
      lastKeys.map { "key\t\($0)\t\($1)" } + metadata.map { "metadata\t\(Self.escaped($0))\t\(Self.text($1))" }
    files.append((".links-\(generation)", ends.sorted().joined(separator: "\n")))
    files.append((".rest-\(generation)", others.sorted().joined(separator: "\n")))
    return files
  }

  init(model: ResolvedModel, folder: URL, generation: String) throws {
    self.model = model
    self.generation = Int(generation) ?? 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasSuffix("-\(generation)") && name != "store-\(generation)" {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      for line in text.split(separator: "\n") {
        read(line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init))
      }
    }
  }

  private mutating func read(_ fields: [String]) {
    switch fields[0] {
    case "key": lastKeys[Int(fields[1]) ?? 0] = Int64(fields[2])
    case "metadata": metadata[Self.unescaped(fields[1])] = Self.value(fields[2])
    case "link", "order":
      guard let id = ManagedObjectID(uriRepresentation: fields[1]) else { return }
      let ids = fields.dropFirst(3).compactMap { ManagedObjectID(uriRepresentation: $0) }
      let end = End(id: id, name: fields[2])
      if fields[0] == "link" { links[end] = ids } else { orders[end] = ids }
    default:
      guard let id = ManagedObjectID(uriRepresentation: fields[0]), let version = Int64(fields[1]) else { return }
      rows[id] = Snapshot(id: id, version: version, values: fields.dropFirst(2).map(Self.value))
    }
  }

  /// A letter for the type, followed by the value.
  private static func text(_ value: Value) -> String {
    switch value {
    case .bool(let bool): bool ? "b1" : "b0"
    case .int(let int): "i\(int)"
    case .double(let double): "f\(double.bitPattern)"
    case .decimal(let decimal): "m\(decimal)"
    case .string(let string): "s" + escaped(string)
    case .date(let date): "t\(date.timeIntervalSinceReferenceDate.bitPattern)"
    case .data(let data): "d" + data.base64EncodedString()
    case .uuid(let uuid): "u\(uuid.uuidString)"
    case .uri(let url): "l" + escaped(url.absoluteString)
    case .objectID(let id): "o" + id.uriRepresentation
    case .null, .list, .map, .object: "n"
    }
  }

  private static func value(_ text: String) -> Value {
    let rest = String(text.dropFirst())
    return switch text.first {
    case "b": .bool(rest == "1")
    case "i": Int64(rest).map(Value.int) ?? .null
    case "f": UInt64(rest).map { .double(Double(bitPattern: $0)) } ?? .null
    case "m": Decimal(string: rest).map(Value.decimal) ?? .null
    case "s": .string(unescaped(rest))
    case "t": UInt64(rest).map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) } ?? .null
    case "d": Data(base64Encoded: rest).map(Value.data) ?? .null
    case "u": UUID(uuidString: rest).map(Value.uuid) ?? .null
    case "l": URL(string: unescaped(rest)).map(Value.uri) ?? .null
    case "o": ManagedObjectID(uriRepresentation: rest).map(Value.objectID) ?? .null
    default: .null
    }
  }

  private static let marks = [("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t")]

  private static func escaped(_ text: String) -> String {
    marks.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  private static func unescaped(_ text: String) -> String {
    var result = ""
    var isEscaped = false
    for character in text {
      if isEscaped {
        result.append(character == "n" ? "\n" : character == "t" ? "\t" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        result.append(character)
      }
    }
    return result
  }
}
