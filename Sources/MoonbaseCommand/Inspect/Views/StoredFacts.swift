import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

/// Types, sizes and first bytes of values in the file. The values themselves are not read.
///
/// A query with the SQL functions `typeof`, `length` and `substr` reads them. Lists use them to
/// avoid large values, and the view of an object uses them to show the stored form.
struct StoredFacts {
  /// A value in a column of a row.
  struct Fact {
    /// The storage class of SQLite: `null`, `integer`, `real`, `text` or `blob`.
    let type: String
    /// The length of a value in bytes, or of a text in characters.
    let length: Int
    /// The first bytes of a value that is not large.
    let beginning: Data?

    /// Whether the value is in a separate file. In this case, the column contains a 2 and the file's name.
    var isInFile: Bool { beginning?.first == 2 && length < 80 }
  }

  /// The first bytes of larger values are not read, because SQLite would read the whole value.
  private static let greatestRead = 1 << 20
  /// The number of columns in one statement.
  private static let greatestColumns = 500
  /// The session whose stores are read.
  private let session: InspectSession

  /// Creates a reader of facts. Nothing is read yet.
  ///
  /// - Parameter session: The session.
  init(_ session: InspectSession) { self.session = session }

  /// The attributes whose values may be large.
  static func large(of entity: ResolvedEntity) -> [ResolvedProperty] {
    stored(of: entity, [.binaryData, .transformable])
  }

  /// The attributes whose stored form may differ from the form that is shown.
  static func converted(of entity: ResolvedEntity) -> [ResolvedProperty] {
    stored(of: entity, [.binaryData, .transformable, .uuid, .date, .decimal, .uri])
  }

  /// The stored attributes of an entity with one of these types.
  private static func stored(of entity: ResolvedEntity, _ types: Set<AttributeType>) -> [ResolvedProperty] {
    entity.properties.filter { property in
      property.attributeType.map { types.contains($0) && !property.isTransient } ?? false
    }
  }

  /// The facts by object and by name. Unsaved objects, and objects of stores that are not files, have no facts.
  ///
  /// - Parameters:
  ///   - ids: The objects, which may be of several entities and stores.
  ///   - properties: Returns the attributes that are of interest for an entity.
  /// - Returns: The facts. An object that another process deleted has none.
  func facts(
    of ids: [ManagedObjectID], _ properties: (ResolvedEntity) -> [ResolvedProperty]
  ) throws -> [ManagedObjectID: [String: Fact]] {
    var all: [ManagedObjectID: [String: Fact]] = [:]
    let saved = Dictionary(grouping: ids.filter { !$0.isTemporaryID }) {
      "\($0.storeIdentifier ?? "")/\($0.entityName)"
    }
    for group in saved.values {
      guard let first = group.first, let url = session.file(of: first), let entity = session.model.entity(of: first)
      else { continue }
      let names = properties(entity).map(\.name)
      for start in stride(from: 0, to: names.count, by: Self.greatestColumns) {
        let part = Array(names[start..<min(names.count, start + Self.greatestColumns)])
        try read(part, of: group, entity, url) { id, name, fact in all[id, default: [:]][name] = fact }
      }
    }
    return all
  }

  /// Reads the facts of some columns for objects of one entity.
  ///
  /// - Parameters:
  ///   - names: The attributes.
  ///   - ids: The objects.
  ///   - entity: The entity of all objects.
  ///   - url: The location of the store.
  ///   - take: Receives each fact.
  private func read(
    _ names: [String], of ids: [ManagedObjectID], _ entity: ResolvedEntity, _ url: URL,
    _ take: (ManagedObjectID, String, Fact) -> Void
  ) throws {
    let columns = names.map { name in
      let quoted = "\"\(name.replacing("\"", with: "\"\""))\""
      let beginning =
        "CASE WHEN length(\(quoted)) < \(Self.greatestRead) THEN CAST(substr(\(quoted), 1, 64) AS BLOB) END"
      return "typeof(\(quoted)), length(\(quoted)), \(beginning)"
    }
    let keys = ids.map { "\($0.key)" }.joined(separator: ", ")
    let table = "\"\(entity.name.replacing("\"", with: "\"\""))\""
    let sql = "SELECT _pk, \(columns.joined(separator: ", ")) FROM \(table) WHERE _pk IN (\(keys))"
    let query = try NamedQuery(
      sql, ofStoreAt: url, model: session.context.coordinator.model, entity: entity.name,
      busyTimeout: session.settings.stores.busyTimeout)
    let known = Dictionary(ids.map { ($0.key, $0) }) { first, _ in first }
    while let row = try query.next() {
      guard let id = row[0].int.flatMap({ known[$0] }) else { continue }
      for (index, name) in names.enumerated() {
        let place = 1 + 3 * index
        let fact = Fact(
          type: row[place].string ?? "", length: Int(row[place + 1].int ?? 0), beginning: row[place + 2].data)
        take(id, name, fact)
      }
    }
  }
}
