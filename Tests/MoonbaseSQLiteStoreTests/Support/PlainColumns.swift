import MoonbaseModel
import Testing

/// The columns of a model's entities in a file, by the plain rules of the format and independent of the store's own
/// layout.
struct PlainColumns {
  let model: ResolvedModel
  private let raw: RawDatabase
  private var names: [String: String] = [:]

  init(_ model: ResolvedModel, in raw: RawDatabase) throws {
    (self.model, self.raw) = (model, raw)
    // From the second use on, a name that two branches of a hierarchy use gets a number, in the order of entities.
    var taken: Set<String> = []
    for entity in model.entities {
      for property in entity.properties where property.declaringEntity == entity.index && !property.isTransient {
        if case .toMany = property.kind { continue }
        let base = "Z" + property.name.uppercased()
        var (column, number) = (base, 0)
        while !taken.insert("\(entity.root) \(column)").inserted {
          number += 1
          column = "\(base)\(number)"
        }
        names["\(entity.index) \(property.name)"] = column
      }
    }
  }

  func table(of entity: ResolvedEntity) -> String { "Z" + model.entities[entity.root].name.uppercased() }

  func number(of entity: ResolvedEntity) throws -> String {
    try #require(try raw.value("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity.name)'"))
  }

  /// The numbers of the entities of rows, in their order.
  func numbers(of keys: [Int64], in entity: ResolvedEntity) throws -> [String] {
    try keys.map { try raw.value("SELECT Z_ENT FROM \(table(of: entity)) WHERE Z_PK = \($0)") ?? "no row" }
  }

  func column(of property: ResolvedProperty) throws -> String {
    try #require(names["\(property.declaringEntity) \(property.name)"], "\(property.name) has no column")
  }

  /// The keys of the destinations of an object, in their order or else ascending.
  func destinations(_ property: ResolvedProperty, of key: Int64, _ entity: ResolvedEntity) throws -> [String] {
    let relationship = try #require(property.relationship)
    if !relationship.isToMany {
      let name = try column(of: property)
      return try raw.rows("SELECT \(name) FROM \(table(of: entity)) WHERE Z_PK = \(key) AND \(name) NOT NULL")
    }
    let destination = model.entities[relationship.destination]
    let inverse = destination.properties[try #require(relationship.inverseSlot)]
    if relationship.isManyToMany { return try pairs(property, inverse, of: key, relationship.isOrdered) }
    let name = try column(of: inverse)
    let order = relationship.isOrdered ? "Z_FOK_\(name.dropFirst())" : "Z_PK"
    return try raw.rows("SELECT Z_PK FROM \(table(of: destination)) WHERE \(name) = \(key) ORDER BY \(order)")
  }

  private func pairs(
    _ property: ResolvedProperty, _ inverse: ResolvedProperty, of key: Int64, _ isOrdered: Bool
  ) throws -> [String] {
    let (mine, theirs) = ("GLOB 'Z_[0-9]*\(inverse.name.uppercased())'", "GLOB 'Z_[0-9]*\(property.name.uppercased())'")
    let found = try raw.rows(
      """
      SELECT t.name, a.name, b.name FROM sqlite_master t, pragma_table_info(t.name) a, pragma_table_info(t.name) b
      WHERE t.type = 'table' AND a.name \(mine) AND b.name \(theirs) AND a.pk > 0 AND b.pk > 0
      """)
    let parts = try #require(found.first).split(separator: "|")
    let order = isOrdered ? "Z_FOK_\(parts[2].dropFirst(2))" : "\(parts[2])"
    return try raw.rows("SELECT \(parts[2]) FROM \(parts[0]) WHERE \(parts[1]) = \(key) ORDER BY \(order)")
  }
}
