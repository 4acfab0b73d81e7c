import MoonbaseModel
import MoonbaseSQLite

/// The model of a database under construction: names for tables, columns and keys, with the comments on each.
///
/// `DatabaseInference` makes it, calls `build` and `describe` in this order, and hands it to
/// `DatabasePlan`. Tables are identified by their `TableProfile` objects.
struct DatabaseModel {
  /// The tables that become entities.
  let tables: [TableProfile]
  /// The foreign keys that become relationships.
  let links: [TableLink]
  /// The tables that become many-to-many relationships.
  let joins: [JoinTable]
  /// The links by the table that has the foreign key.
  private let linksOfTables: [ObjectIdentifier: [TableLink]]
  /// The model and its comments, complete after `build`.
  private(set) var inferred = InferredModel()
  /// The names of the owners' many-to-many relationships, in the order of the joins.
  private(set) var joinNames: [String] = []

  /// The reasons why foreign keys are no relationships, by table.
  private let refusals: [ObjectIdentifier: [String]]
  /// The entity name of each table.
  private var entityNames: [ObjectIdentifier: String] = [:]
  /// The property names in use, by table.
  private var names: [ObjectIdentifier: InferredNames] = [:]
  /// The attribute names by table and column.
  private var attributeNames: [ObjectIdentifier: [String: String]] = [:]
  /// The entities under construction, by table.
  private var entities: [ObjectIdentifier: EntityDescription] = [:]

  /// A model without entities yet.
  init(
    tables: [TableProfile], links: [TableLink], joins: [JoinTable], refusals: [ObjectIdentifier: [String]]
  ) {
    (self.links, self.joins, self.refusals) = (links, joins, refusals)
    let joined = Set(joins.map { ObjectIdentifier($0.profile) })
    self.tables = tables.filter { !joined.contains(ObjectIdentifier($0)) }
    linksOfTables = Dictionary(grouping: links) { ObjectIdentifier($0.child) }
  }

  /// The links of a table.
  func links(of table: TableProfile) -> [TableLink] { linksOfTables[ObjectIdentifier(table)] ?? [] }

  /// The entity name of a table.
  func entity(_ table: TableProfile) -> String { entityNames[ObjectIdentifier(table)] ?? "" }

  /// The attribute of a column; nil if a relationship represents the column.
  func attribute(_ column: String, of table: TableProfile) -> String? {
    attributeNames[ObjectIdentifier(table)]?[column]
  }

  /// Builds entities, attributes and relationships. The database is queried for duplicate values
  /// only.
  mutating func build(_ connection: Connection) throws {
    var all = InferredNames()
    for table in tables {
      let name = all.unique(InferredNames.entity(table.table.name))
      entityNames[ObjectIdentifier(table)] = name
      var entity = EntityDescription(name)
      if name != table.table.name { entity.userInfo["table"] = .string(table.table.name) }
      entities[ObjectIdentifier(table)] = entity
    }
    for table in tables { try addAttributes(of: table, connection) }
    for link in links { add(link) }
    for link in links { addInverse(of: link) }
    for join in joins { add(join) }
    inferred.model.entities = tables.compactMap { entities[ObjectIdentifier($0)] }
  }

  /// Adds the comment at the top of the model's file.
  mutating func describe(_ database: String, passedOver: [String]) {
    inferred.head = ["Guessed by moonbase import --infer from \(database.shownInComment), a database."]
    if !passedOver.isEmpty {
      inferred.head.append(
        "Passed over, for they have no rows of their own: \(passedOver.joined(separator: ", "))".shownOnOneLine)
    }
    for join in joins {
      inferred.head.append(
        "The table \(join.profile.table.name) is a relationship between \(entity(join.owner.parent)) and \(entity(join.destination.parent))."
          .shownOnOneLine)
    }
    inferred.head.append("Each comment says why what follows it is so.")
  }

  // MARK: Attributes

  /// Adds all columns, except those that merely refer to a row of another table.
  ///
  /// A column of a foreign key stays an attribute if it is part of a unique key, or if some of its
  /// rows have no parent.
  private mutating func addAttributes(of table: TableProfile, _ connection: Connection) throws {
    let id = ObjectIdentifier(table)
    let exact = Set(links(of: table).filter { $0.inexact == 0 }.flatMap(\.columns))
    let others = Set(links(of: table).filter { $0.inexact > 0 }.flatMap(\.columns))
    let keys = Set(table.table.uniqueKeys.flatMap { $0 })
    let columns = table.table.columns.map(\.name).filter {
      !exact.contains($0) || others.contains($0) || keys.contains($0)
    }
    var names = InferredNames()
    let path = ["entities", entity(table)]
    for (column, name) in zip(columns, names.properties(columns)) {
      let guess = table.guess(column, named: name)
      entities[id]?.attributes.append(guess.attribute)
      attributeNames[id, default: [:]][column] = name
      inferred.comments[path + ["attributes", name]] = guess.reasons
    }
    self.names[id] = names
    for key in table.table.uniqueKeys {
      let constraint = key.compactMap { attribute($0, of: table) }
      if try table.isUnique(key, connection) {
        entities[id]?.uniquenessConstraints.append(constraint)
      } else {
        inferred.comments[path + ["attributes"], default: []].append(
          "\(constraint.joined(separator: ", ")) is unique in the table, but not among values of the attribute's type")
      }
    }
    inferred.comments[path] =
      ["table \(table.table.name): \(table.rows) row\(table.rows == 1 ? "" : "s")".shownOnOneLine]
      + (refusals[id] ?? [])
  }

  // MARK: Relationships

  /// The name of a relationship: `department_id` becomes `department`.
  private func baseName(_ link: TableLink) -> String {
    guard link.columns.count == 1 else { return InferredNames.property(link.parent.table.name) }
    let column = link.columns[0]
    for ending in ["_id", "_ID", "_fk", "Id", "ID"] where column.hasSuffix(ending) && column.count > ending.count {
      return InferredNames.property(String(column.dropLast(ending.count)))
    }
    return InferredNames.property(column)
  }

  /// A property name that is not used in the entity of a table.
  private mutating func unique(_ name: String, in table: TableProfile) -> String {
    names[ObjectIdentifier(table), default: InferredNames()].unique(name)
  }

  /// Names the relationship of a foreign key.
  private mutating func add(_ link: TableLink) {
    link.name = unique(baseName(link), in: link.child)
  }

  /// Names the inverse of a foreign key's relationship, and adds both to their entities.
  private mutating func addInverse(of link: TableLink) {
    let isOnly = links(of: link.child).filter { $0.parent === link.parent }.count == 1
    let plain = InferredNames.property(link.child.table.name)
    let name = isOnly && link.child !== link.parent ? plain : "\(plain)By\(link.name.capitalizedFirst)"
    link.inverse = unique(name, in: link.parent)
    var there = RelationshipDescription.toOne(link.name, destination: entity(link.parent), inverse: link.inverse)
    there.isOptional = !link.isRequired
    var back: RelationshipDescription =
      link.isOneToOne
      ? .toOne(link.inverse, destination: entity(link.child), inverse: link.name)
      : .toMany(link.inverse, destination: entity(link.child), inverse: link.name)
    back.deleteRule = link.deleteRule
    entities[ObjectIdentifier(link.child)]?.relationships.append(there)
    entities[ObjectIdentifier(link.parent)]?.relationships.append(back)
    inferred.comments[["entities", entity(link.child), "relationships", link.name]] = [link.reason]
  }

  /// Adds the two sides of a join table's relationship.
  private mutating func add(_ join: JoinTable) {
    let (owner, destination) = (join.owner.parent, join.destination.parent)
    let isReflexive = owner === destination
    let name = unique(
      isReflexive ? baseName(join.destination) : InferredNames.property(destination.table.name), in: owner)
    let inverse = unique(
      isReflexive ? baseName(join.owner) : InferredNames.property(owner.table.name), in: destination)
    joinNames.append(name)
    let (here, there) = (entity(owner), entity(destination))
    entities[ObjectIdentifier(owner)]?.relationships.append(.toMany(name, destination: there, inverse: inverse))
    entities[ObjectIdentifier(destination)]?.relationships.append(.toMany(inverse, destination: here, inverse: name))
    let columns = (join.owner.columns + join.destination.columns).joined(separator: ", ")
    let key = join.profile.table.columns.count > join.owner.columns.count + join.destination.columns.count
    inferred.comments[["entities", here, "relationships", name]] = [
      "the \(join.profile.rows) rows of table \(join.profile.table.name)(\(columns))\(key ? "; their own numbers are not kept" : "")"
        .shownOnOneLine
    ]
  }
}
