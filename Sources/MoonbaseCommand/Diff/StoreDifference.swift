import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// An object in a difference: its entity and its identity.
///
/// The label is what a user sees, as `Person/12` or `Person email=ada@example.org`.
struct DifferentObject {
  /// The entity and the key, or the entity and the values of `--by`.
  let label: String
  /// The name of the entity.
  let entity: String
  /// The ID in the first store, or nil for an object that only the second store has.
  let id: ManagedObjectID?
  /// The values of `--by`.
  var keys: [(name: String, value: Value)] = []
}

/// Receives the differences between two stores as they are found.
///
/// The calls come entity by entity; `finish` comes last. `DifferenceRows` and `DifferenceScript`
/// conform.
protocol DifferenceWriter: AnyObject {
  /// The number of differences so far.
  var count: Int { get }
  /// An object that only the second store has, with its values.
  func inserted(_ object: DifferentObject, _ values: [(name: String, value: Value)]) throws
  /// An object that only the first store has.
  func deleted(_ object: DifferentObject) throws
  /// A property with different values in both stores.
  func changed(_ object: DifferentObject, _ name: String, from old: Value, to new: Value) throws
  /// The end of the comparison.
  func finish() throws
}

/// Compares the objects of two stores, one entity after the other.
///
/// Without keys, objects are the same if entity and key are equal; then rows are compared. With
/// keys, the values of attributes decide. Both stores are only read.
struct StoreDifference {
  /// The number of objects that are read together.
  private static let chunk = 500
  /// The context of the first store.
  private let left: ManagedObjectContext
  /// The context of the second store.
  private let right: ManagedObjectContext
  /// The attributes of `--by`; empty to compare by key.
  private let keys: [String]

  /// A difference of two stores.
  init(from left: ManagedObjectContext, to right: ManagedObjectContext, keys: [String]) {
    (self.left, self.right, self.keys) = (left, right, keys)
  }

  /// Compares these entities, each with its subentities.
  func run(_ entities: [String], _ writer: any DifferenceWriter) throws {
    for entity in entities { try compare(entity, writer) }
  }

  /// Compares an entity in the way that the keys allow.
  private func compare(_ entity: String, _ writer: any DifferenceWriter) throws {
    let (came, went) =
      if keys.isEmpty {
        try compareRows(of: entity, writer)
      } else {
        try KeyComparison(entity, from: left, to: right, keys: keys).run { try compare($0, writer) }
      }
    try tell(came: came, went: went, writer)
  }

  /// Compares rows, and reads objects only for rows that differ.
  private func compareRows(of entity: String, _ writer: any DifferenceWriter) throws -> (IDList, IDList) {
    guard var rows = try RowComparison(entity, from: left, to: right) else {
      throw GraphError.unknownEntity(entity, in: left.model)
    }
    return try rows.run { ids in
      let pairs = (try left.loadObjects(with: ids.map(\.0)), try right.loadObjects(with: ids.map(\.1)))
      guard pairs.0.count == ids.count, pairs.1.count == ids.count else { throw Self.changedMeanwhile }
      try compare(pairs, writer)
      try left.turnIntoFaults(pairs.0)
      try right.turnIntoFaults(pairs.1)
    }
  }

  /// The error that a store was changed during the comparison.
  static var changedMeanwhile: GraphError {
    GraphError(.storeBusy, message: "a store was written meanwhile: compare again")
  }

  /// Reports the objects that only one store has.
  private func tell(came: IDList, went: IDList, _ writer: any DifferenceWriter) throws {
    try right.forEachChunk(of: came, Self.chunk) { objects in
      for object in objects {
        try writer.inserted(try named(object, former: nil), properties(of: object).map { ($0.name, $0.value) })
      }
    }
    try left.forEachChunk(of: went, Self.chunk) { objects in
      for object in objects { try writer.deleted(try named(object, former: object.objectID)) }
    }
  }

  /// The values of the keys.
  private func keyValues(of object: ManagedObject) throws -> [Value] { try keys.map { try object.value(forKey: $0) } }

  /// Reports the properties that differ in pairs of objects.
  private func compare(_ pairs: KeyComparison.Pairs, _ writer: any DifferenceWriter) throws {
    for (former, object) in zip(pairs.left, pairs.right) {
      let known = Dictionary(uniqueKeysWithValues: try properties(of: former).map { ($0.name, $0) })
      for property in try properties(of: object) {
        let before = known[property.name]
        if !property.isSame(as: before) {
          let name = try named(former, former: former.objectID)
          try writer.changed(name, property.name, from: before?.value ?? .null, to: property.value)
        }
      }
    }
  }

  /// The object of a difference, with its label.
  private func named(_ object: ManagedObject, former: ManagedObjectID?) throws -> DifferentObject {
    var named = DifferentObject(label: try label(object.objectID, object), entity: object.entity.name, id: former)
    named.keys = try keys.map { ($0, try object.value(forKey: $0)) }
    return named
  }

  /// Whether an object has all attributes of the keys.
  private func isKnownByKeys(_ object: ManagedObject) -> Bool {
    !keys.isEmpty && keys.allSatisfy { object.entity.property($0)?.attribute != nil }
  }

  /// The entity and the key, or the entity with the values of `--by` if the object has them.
  private func label(_ id: ManagedObjectID, _ object: ManagedObject?) throws -> String {
    guard let object, isKnownByKeys(object) else { return id.short }
    let values = try keys.map { "\($0)=\(try object.value(forKey: $0).description)" }
    return "\(object.entity.name) \(values.joined(separator: " "))"
  }

  /// The stored attributes, and the relationships whose inverse does not contain the same information. Objects are
  /// written by their labels.
  private func properties(of object: ManagedObject) throws -> [DifferentProperty] {
    try object.entity.properties.compactMap { property in
      guard property.isCompared else { return nil }
      let name = property.name
      switch property.kind {
      case .attribute:
        let value = try object.value(forKey: name)
        return DifferentProperty(name: name, value: value, marks: [value])
      case .toOne:
        let (label, mark) = try labelled(object.value(forKey: name), in: object)
        return DifferentProperty(name: name, value: label, marks: [mark])
      case .toMany(let relationship):
        guard case .list(let list) = try object.value(forKeyPath: name) else { return nil }
        var labels = try list.map { try labelled($0, in: object) }
        if !relationship.isOrdered { labels.sort { $0.label.description < $1.label.description } }
        return DifferentProperty(
          name: name, value: .list(labels.map(\.label)), marks: labels.map(\.mark), isOrdered: relationship.isOrdered)
      }
    }
  }

  /// The label of an object, and a value that identifies it. Different values may have the same label.
  private func labelled(_ value: Value, in object: ManagedObject) throws -> (label: Value, mark: Value) {
    guard case .objectID(let id) = value else { return (value, value) }
    let other = keys.isEmpty ? nil : try object.managedObjectContext?.existingObject(with: id)
    let label = Value.string(try self.label(id, other))
    guard let other, isKnownByKeys(other) else { return (label, label) }
    return (label, .list([.string(other.entity.name)] + (try keyValues(of: other))))
  }
}

/// A property of an object: the value for the output, and the values for the comparison.
///
/// Marks identify values: two properties with equal marks are equal.
private struct DifferentProperty {
  /// The name of the property.
  let name: String
  /// The value for the output, with labels for objects.
  let value: Value
  /// The values for the comparison.
  let marks: [Value]
  /// Whether the order of the marks matters.
  var isOrdered = true

  /// Whether the property is equal; a missing one equals an empty one.
  func isSame(as former: DifferentProperty?) -> Bool {
    guard let former else { return value.isNull || marks.isEmpty }
    guard marks.count == former.marks.count, marks != former.marks else { return marks == former.marks }
    return !isOrdered && counts == former.counts
  }

  /// The number of occurrences of each mark.
  private var counts: [Value: Int] { Dictionary(marks.map { ($0, 1) }, uniquingKeysWith: +) }
}

extension ResolvedProperty {
  /// Whether `diff` compares the property. Transient properties are not stored. A one-to-many relationship contains the
  /// same information as its inverse.
  var isCompared: Bool {
    guard !isTransient else { return false }
    guard case .toMany(let relationship) = kind else { return true }
    return relationship.isManyToMany || relationship.isOrdered
  }
}

/// Writes the differences as rows. A row has the kind of the change and the object. For a changed attribute, it also
/// has the attribute's name and the old and the new value.
final class DifferenceRows: DifferenceWriter {
  /// The number of rows so far.
  private(set) var count = 0
  /// The printer of the rows.
  private let writer: RowPrinter

  /// Rows in an output form.
  init(_ form: OutputForm) {
    writer = RowPrinter(form, columns: ["change", "object", "property", "old", "new"])
  }

  /// Writes a row, and counts it.
  private func write(_ change: String, _ object: DifferentObject, _ rest: [Value]) throws {
    count += 1
    try writer.write([.string(change), .string(object.label)] + rest)
  }

  /// Writes a row for an inserted object, with its values as a map.
  func inserted(_ object: DifferentObject, _ values: [(name: String, value: Value)]) throws {
    let map = Dictionary(uniqueKeysWithValues: values.filter { !$0.value.isNull })
    try write("insert", object, [.null, .null, .map(map)])
  }

  /// Writes a row for a deleted object.
  func deleted(_ object: DifferentObject) throws { try write("delete", object, [.null, .null, .null]) }

  /// Writes a row for a changed property.
  func changed(_ object: DifferentObject, _ name: String, from old: Value, to new: Value) throws {
    try write("update", object, [.string(name), old, new])
  }

  /// Writes the end of the output, and reports values that lost something.
  func finish() throws {
    if count > 0 { try writer.finish() }
    for message in writer.losses.messages { Terminal.complain("moonbase: \(message)") }
  }
}
