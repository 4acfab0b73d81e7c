import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the rows of `ACHANGE` that belong to one transaction.
struct ChangeWriter {
  enum Kind: Int64 {
    case insertion = 0
    case update = 1
    case deletion = 2
  }

  private let table: HistoryTable
  private let transaction: Int64
  private let tombstones: [String]
  private var key: Int64

  /// Sets keys aside for so many changes.
  init(_ table: HistoryTable, form: HistoryForm, transaction: Int64, count: Int) throws {
    self.table = table
    self.transaction = transaction
    key = try table.reserve(count)
    tombstones = form.tombstoneColumns
  }

  /// Columns that a tombstone keeps are copied by SQLite, as they are.
  mutating func write(
    _ kind: Kind, of layout: EntityLayout, row: Int64, columns: Data? = nil, tombstone: [String] = []
  ) throws {
    let kept = zip(tombstones, tombstone)
    let names = kept.map { ", \(identifier($0.0))" }.joined()
    let values = kept.map { ", (SELECT \(identifier($0.1)) FROM \(identifier(layout.table)) WHERE Z_PK = ?5)" }.joined()
    let statement = try table.connection.statement(
      "INSERT OR ABORT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(names)) "
        + "VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7\(values))")
    statement.bind(key, at: 1)
    statement.bind(table.number, at: 2)
    statement.bind(kind.rawValue, at: 3)
    statement.bind(layout.number, at: 4)
    statement.bind(row, at: 5)
    statement.bind(transaction, at: 6)
    if let columns { statement.bind(columns, at: 7) }
    try table.insert(with: statement)
    key += 1
  }
}

/// Which properties an update changed: a bit for each in a fixed order, the first in the highest bit of the first byte.
enum ChangedColumns {
  static func bitmap(_ slots: Set<Slot>, of layout: EntityLayout) -> Data {
    let ordered = ordered(layout)
    var bytes = Data(count: (ordered.count + 7) / 8)
    for (index, property) in ordered.enumerated() where slots.contains(property.slot) {
      bytes[index / 8] |= 0x80 >> UInt8(index % 8)
    }
    return bytes
  }

  /// The names of the properties whose bits are set, in their order. Bits that no property of now stands for are passed over.
  static func names(_ bitmap: Data, of layout: EntityLayout) -> [String] {
    let bytes = Array(bitmap)
    let names = ordered(layout).enumerated().compactMap { index, property in
      index / 8 < bytes.count && bytes[index / 8] & 0x80 >> UInt8(index % 8) != 0 ? property.name : nil
    }
    return Set(names).sorted()
  }

  /// A bitmap whose bits stand for properties in other places; those without one are gone. Bits behind those of all properties, which frameworks
  /// write too, stay behind them.
  static func moved(_ bitmap: Data, to places: [Int?], count: Int) -> Data {
    let bytes = Array(bitmap)
    var result = Data(count: (count + 7) / 8)
    for index in 0..<bytes.count * 8 where bytes[index / 8] & 0x80 >> UInt8(index % 8) != 0 {
      guard let place = index < places.count ? places[index] : count + index - places.count else { continue }
      while result.count <= place / 8 { result.append(0) }
      result[place / 8] |= 0x80 >> UInt8(place % 8)
    }
    return result
  }

  /// How many bits there are.
  static func count(_ layout: EntityLayout) -> Int { ordered(layout).count }

  /// What the bits stand for, from the first: to-one relationships, those of them with a column for the destination's entity once more,
  /// attributes, and to-many relationships; each of these by the entity that declares it, the topmost first, and by name.
  ///
  /// So the changes of a real store make sense (`RealHistoryTests`). The order of to-many relationships among themselves is not known.
  static func ordered(_ layout: EntityLayout) -> [ResolvedProperty] {
    let kept = layout.entity.properties.filter { !$0.isTransient }.sorted {
      ($0.declaringEntity, $0.name) < ($1.declaringEntity, $1.name)
    }
    let toOne = kept.filter { if case .toOne = $0.kind { true } else { false } }
    let polymorphic = toOne.filter { layout.polymorphicSlots.contains($0.slot) }
    let attributes = kept.filter { $0.relationship == nil }
    return toOne + polymorphic + attributes + kept.filter { $0.relationship?.isToMany == true }
  }
}
