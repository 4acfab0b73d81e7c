import MoonbaseModel

/// The views of a store in which entities and properties have the names of the model.
///
/// An entity is a view that includes the rows of subentities. The view has `_pk`, `_entity` if there are several
/// entities, and a column for each attribute and to-one relationship, which holds the destination's key. A many-to-many
/// relationship is a view with `source`, `destination` and, if it is ordered, `place`.
package struct NamedViews {
  /// A view.
  package struct View: Equatable, Sendable {
    /// The entity, or the entity and the relationship.
    package let name: String
    /// The query of the view.
    package let select: String
  }

  /// The forms of names and values in views.
  package struct Form {
    /// The prefix of the store's tables, with its dot.
    var qualifier: String
    /// The word between the parts of a name.
    var separator: String
    /// The form of a name, for an engine that folds names without quotes.
    var name: (String) -> String
    /// The greatest number of bytes of a name.
    var greatestName: Int
    /// The value of a column, from its term.
    var value: (ColumnKind, String) -> String
    /// Whether views and columns are sorted by name. The order of a model is not kept in a store.
    var isSorted: Bool

    /// The names of the model, and the values as they are stored.
    package static func stored(qualifier: String) -> Form {
      Form(qualifier: qualifier, separator: ".", name: { $0 }, greatestName: .max, value: { $1 }, isSorted: false)
    }

    /// Names that need no quotes, whatever their case, of at most 63 bytes, in their order. `value` converts the stored
    /// values.
    package static func folded(
      qualifier: String, value: @escaping (ColumnKind, String) -> String
    ) -> Form {
      Form(
        qualifier: qualifier, separator: "_", name: Self.folded, greatestName: 63, value: value, isSorted: true)
    }

    /// A name with the ASCII letters in lower case, as PostgreSQL folds names without quotes.
    private static func folded(_ name: String) -> String {
      String(decoding: name.utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }
  }

  /// The tables and columns of the store.
  private let layout: StoreLayout
  /// The forms of names and values.
  private let form: Form

  /// Describes the views of a store.
  package init(_ layout: StoreLayout, form: Form) { (self.layout, self.form) = (layout, form) }

  /// The views of one entity, or of all entities in the store. Each has a name of its own.
  package func views(of name: String? = nil) -> [View] {
    var names = UniqueNames(form)
    let all = entities
    // Entities come first, so that a relationship does not take the name of an entity.
    let entities = all.map { ($0, names.claim([$0.entity.name])) }
    let relationships = all.flatMap { entity in
      joins(of: entity).map { property, join in
        (entity, View(name: names.claim([entity.entity.name, property.name]), select: select(of: join)))
      }
    }
    return entities.filter { name == nil || $0.0.entity.name == name }.map { View(name: $1, select: select(of: $0)) }
      + relationships.filter { name == nil || $0.0.entity.name == name }.map(\.1)
  }

  /// The entities, in the order of the form.
  private var entities: [EntityLayout] {
    let all = layout.entities.compactMap(\.self)
    return form.isSorted ? all.sorted { $0.entity.name < $1.entity.name } : all
  }

  /// The properties of an entity with their columns, in the order of the form.
  private func properties(of entity: EntityLayout) -> [(ResolvedProperty, SlotLayout)] {
    let all = Array(zip(entity.entity.properties, entity.slots))
    return form.isSorted ? all.sorted { $0.0.name < $1.0.name } : all
  }

  /// The many-to-many relationships of an entity.
  private func joins(of entity: EntityLayout) -> [(ResolvedProperty, JoinLayout)] {
    properties(of: entity).compactMap { property, slot in
      if case .join(let join) = slot { (property, join) } else { nil }
    }
  }

  /// The query for the objects of an entity.
  private func select(of entity: EntityLayout) -> String {
    var names = UniqueNames(form)
    var columns = ["t.Z_PK AS \(quoted(names.claim(["_pk"])))"]
    if entity.entity.hasSubentities {
      let name = "(SELECT Z_NAME FROM \(form.qualifier)Z_PRIMARYKEY k WHERE k.Z_ENT = t.Z_ENT)"
      columns.append("\(name) AS \(quoted(names.claim(["_entity"])))")
    }
    for (property, slot) in properties(of: entity) {
      switch slot {
      case .attribute(let column, let kind):
        columns.append("\(form.value(kind, "t.\(identifier(column))")) AS \(quoted(names.claim([property.name])))")
      case .composite(let composite):
        columns += composite.leaves.map { leaf in
          "\(form.value(leaf.kind, "t.\(identifier(leaf.column))")) AS \(quoted(names.claim([property.name] + leaf.path)))"
        }
      case .toOne(let place):
        columns.append("t.\(identifier(place.column)) AS \(quoted(names.claim([property.name])))")
      case .none, .foreignKey, .join, .lost: break
      }
    }
    let numbers = layout.subtree(of: entity.entity).map { "\($0.number)" }.joined(separator: ", ")
    let condition = entity.entity.parent == nil ? "" : " WHERE t.Z_ENT IN (\(numbers))"
    return "SELECT \(columns.joined(separator: ", ")) FROM \(form.qualifier)\(identifier(entity.table)) t\(condition)"
  }

  /// The query for the pairs of a many-to-many relationship.
  private func select(of join: JoinLayout) -> String {
    let (owner, destination) = (identifier(join.ownerColumn), identifier(join.destinationColumn))
    let table = form.qualifier + identifier(join.table)
    let place = join.orderColumn.map { ", \(identifier($0)) AS place" } ?? ""
    let pairs = "SELECT DISTINCT \(owner) AS source, \(destination) AS destination\(place) FROM \(table)"
    return join.isReflexive && place.isEmpty ? "\(pairs) UNION SELECT \(destination), \(owner) FROM \(table)" : pairs
  }

  /// A name in double quotes, for names with a dot and in the case that they have.
  private func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
}

/// Names in the form of an engine. Names that are equal there get numbers.
private struct UniqueNames {
  /// The form of names.
  private let form: NamedViews.Form
  /// The names so far.
  private var taken: Set<String> = []

  /// Makes an empty collection.
  init(_ form: NamedViews.Form) { self.form = form }

  /// Makes a name of its parts. A long name is cut, and a name that is taken gets the lowest free number.
  mutating func claim(_ parts: [String]) -> String {
    let whole = form.name(parts.joined(separator: form.separator))
    var name = cut(whole, to: form.greatestName)
    var number = 1
    while !taken.insert(name).inserted {
      number += 1
      name = cut(whole, to: form.greatestName - 4) + "_\(number)"
    }
    return name
  }

  /// The characters of a name that fit into a number of bytes.
  private func cut(_ name: String, to count: Int) -> String {
    var name = name
    while name.utf8.count > count { name.removeLast() }
    return name
  }
}
