import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// An object in a difference: its entity, and what tells it from others.
struct DifferentObject {
  /// The entity and the key, or the entity and the values of `--by`.
  let label: String
  let entity: String
  /// The ID in the first store; nil for an object that came.
  let id: ManagedObjectID?
  /// The values of `--by`.
  var keys: [(name: String, value: Value)] = []
}

/// Takes the differences of two stores as they are found.
protocol DifferenceWriter: AnyObject {
  /// How many differences there were.
  var count: Int { get }
  func came(_ object: DifferentObject, _ values: [(name: String, value: Value)]) throws
  func went(_ object: DifferentObject) throws
  func changed(_ object: DifferentObject, _ name: String, from old: Value, to new: Value) throws
  func finish() throws
}

/// Compares the objects of two stores, one entity after the other.
struct StoreDifference {
  private static let chunk = 500
  private let left: ManagedObjectContext
  private let right: ManagedObjectContext
  private let keys: [String]

  init(from left: ManagedObjectContext, to right: ManagedObjectContext, keys: [String]) {
    (self.left, self.right, self.keys) = (left, right, keys)
  }

  func run(_ entities: [String], _ writer: any DifferenceWriter) throws {
    for entity in entities { try compare(entity, writer) }
  }

  private func compare(_ entity: String, _ writer: any DifferenceWriter) throws {
    if keys.isEmpty, var rows = try RowComparison(entity, from: left, to: right) {
      let (came, went) = try rows.run { try compare($0, writer) }
      return try tell(came: came, went: went, writer)
    }
    let old = try places(of: entity, in: left)
    let new = try places(of: entity, in: right)
    var went = old.ids
    var pairs: [(ManagedObjectID, ManagedObjectID)] = []
    var came: [ManagedObjectID] = []
    for id in new.order {
      guard let mark = new.marks[id] else { continue }
      if let former = went.removeValue(forKey: mark) { pairs.append((former, id)) } else { came.append(id) }
    }
    for start in stride(from: 0, to: pairs.count, by: Self.chunk) {
      try compare(Array(pairs[start..<min(pairs.count, start + Self.chunk)]), writer)
    }
    let left = old.order.filter { id in old.marks[id].map { went[$0] == id } == true }
    try tell(came: IDList(came), went: IDList(left), writer)
  }

  /// The objects that one store alone has.
  private func tell(came: IDList, went: IDList, _ writer: any DifferenceWriter) throws {
    try Self.forEach(of: came, in: right) { try writer.came(try named($0, former: nil), values(of: $0)) }
    try Self.forEach(of: went, in: left) { try writer.went(try named($0, former: $0.objectID)) }
  }

  private static func forEach(
    of ids: IDList, in context: ManagedObjectContext, _ body: (ManagedObject) throws -> Void
  ) throws {
    for start in stride(from: 0, to: ids.count, by: chunk) {
      let objects = try context.loadObjects(with: Array(ids[start..<min(ids.count, start + chunk)]))
      for object in objects { try body(object) }
      try context.turnIntoFaults(objects)
    }
  }

  private typealias Places = (
    order: [ManagedObjectID], marks: [ManagedObjectID: String], ids: [String: ManagedObjectID]
  )

  /// The mark of each object, which is its key or its values of `--by`, and the object of each mark. Where objects have
  /// equal marks, those after the first get marks of their own.
  private func places(of entity: String, in context: ManagedObjectContext) throws -> Places {
    var places: Places = ([], [:], [:])
    let ids = try context.fetchIDList(FetchRequest(entity))
    for start in stride(from: 0, to: ids.count, by: Self.chunk) {
      let some = Array(ids[start..<min(ids.count, start + Self.chunk)])
      let objects = keys.isEmpty ? [] : try context.loadObjects(with: some)
      for (index, id) in some.enumerated() {
        var mark = keys.isEmpty ? "\(id.key)" : try self.mark(objects[index])
        while places.ids[mark] != nil { mark += "\u{0}" }
        places.order.append(id)
        places.marks[id] = mark
        places.ids[mark] = id
      }
      if !objects.isEmpty { try context.turnIntoFaults(objects) }
    }
    return places
  }

  private func mark(_ object: ManagedObject) throws -> String {
    try keys.map { try object.value(forKey: $0).description }.joined(separator: "\u{1}")
  }

  private func compare(_ pairs: [(ManagedObjectID, ManagedObjectID)], _ writer: any DifferenceWriter) throws {
    let old = try left.loadObjects(with: pairs.map(\.0))
    let new = try right.loadObjects(with: pairs.map(\.1))
    guard old.count == pairs.count, new.count == pairs.count else {
      throw GraphError(.storeBusy, message: "a store was written meanwhile: compare again")
    }
    for (former, object) in zip(old, new) {
      let known = try values(of: former)
      for (name, value) in try values(of: object) {
        let before = known.first { $0.name == name }?.value ?? .null
        if before != value {
          try writer.changed(try named(former, former: former.objectID), name, from: before, to: value)
        }
      }
    }
    try left.turnIntoFaults(old)
    try right.turnIntoFaults(new)
  }

  private func named(_ object: ManagedObject, former: ManagedObjectID?) throws -> DifferentObject {
    var named = DifferentObject(label: try label(object.objectID, object), entity: object.entity.name, id: former)
    named.keys = try keys.map { ($0, try object.value(forKey: $0)) }
    return named
  }

  /// The entity and the key, or the entity with the values of `--by` where it has them.
  private func label(_ id: ManagedObjectID, _ object: ManagedObject?) throws -> String {
    guard !keys.isEmpty, let object, keys.allSatisfy({ object.entity.property($0)?.attribute != nil }) else {
      return id.short
    }
    let values = try keys.map { "\($0)=\(try object.value(forKey: $0).description)" }
    return "\(object.entity.name) \(values.joined(separator: " "))"
  }

  /// Attributes that are stored, and relationships whose other side does not tell the same. Objects are named by their
  /// labels.
  private func values(of object: ManagedObject) throws -> [(name: String, value: Value)] {
    try object.entity.properties.filter { !$0.isTransient }.compactMap { property in
      switch property.kind {
      case .attribute: return (property.name, try object.value(forKey: property.name))
      case .toOne: return (property.name, try labelled(try object.value(forKey: property.name), in: object))
      case .toMany(let relationship):
        guard relationship.isManyToMany || relationship.isOrdered else { return nil }
        guard case .list(let list) = try labelled(try object.value(forKeyPath: property.name), in: object) else {
          return nil
        }
        let texts = list.map(\.description)
        return (property.name, .list((relationship.isOrdered ? texts : texts.sorted()).map(Value.string)))
      }
    }
  }

  private func labelled(_ value: Value, in object: ManagedObject) throws -> Value {
    switch value {
    case .objectID(let id):
      let other = keys.isEmpty ? nil : try object.managedObjectContext?.existingObject(with: id)
      return .string(try label(id, other))
    case .list(let list): return .list(try list.map { try labelled($0, in: object) })
    default: return value
    }
  }
}

/// Differences as rows: the change, the object, and of an attribute its name with the old and the new value.
final class DifferenceRows: DifferenceWriter {
  private(set) var count = 0
  private let writer: RowWriter

  init(_ form: OutputForm) {
    writer = RowWriter(form, columns: ["change", "object", "property", "old", "new"])
  }

  private func write(_ change: String, _ object: DifferentObject, _ rest: [Value]) throws {
    count += 1
    try writer.write([.string(change), .string(object.label)] + rest)
  }

  func came(_ object: DifferentObject, _ values: [(name: String, value: Value)]) throws {
    let map = Dictionary(uniqueKeysWithValues: values.filter { !$0.value.isNull })
    try write("insert", object, [.null, .null, .map(map)])
  }

  func went(_ object: DifferentObject) throws { try write("delete", object, [.null, .null, .null]) }

  func changed(_ object: DifferentObject, _ name: String, from old: Value, to new: Value) throws {
    try write("update", object, [.string(name), old, new])
  }

  func finish() throws {
    if count > 0 { try writer.finish() }
    for message in writer.losses.messages { Terminal.complain("moonbase: \(message)") }
  }
}
