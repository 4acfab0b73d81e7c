import MoonbaseGraph
package import MoonbaseModel

/// The places of a model's entities and properties in a file: Core Data's tables, columns and numbers.
///
/// The names follow from the model. In an existing file they are looked up, because old frameworks named some tables
/// and columns differently.
///
/// Built once when a store is opened and immutable afterwards, so that sessions on several threads share it.
/// `LayoutBuilder` makes it; row plans, statements and the translator read it.
package struct StoreLayout: Sendable {
  /// The model that opened the store.
  package let model: ResolvedModel
  /// The entities by their index in the model. Nil for entities that the store does not hold, or whose table the file
  /// lacks.
  package private(set) var entities: [EntityLayout?]
  /// The entity tables, in the order of their numbers.
  package private(set) var tables: [TableLayout]
  /// The pair tables, each seen from the side that names it.
  package private(set) var joins: [JoinLayout]
  /// The features of the model that the file lacks.
  package let lacks: LayoutLacks
  /// Attributes whose values SQLite would compare differently than memory does. They are compared in memory only.
  package var comparedInMemory: Set<PropertyID> = []
  /// The R-trees of the file with known triggers. Trees in other forms are left to their triggers.
  package var rTrees: [RTreeLayout] = []
  /// Whether the file stores its text in UTF-16, which SQLite does not validate.
  package var keepsUTF16 = false
  /// The indexes of the model's entities by `Z_ENT`, −1 for unused numbers. An array, because numbers are small
  /// (`LayoutBuilder`) and every row is looked up.
  private let indexesByNumber: [Int]
  /// Symbols and root entities by `Z_ENT`. A root of −1 stands for no entity. All row plans share this list.
  package let symbolsByNumber: ContiguousArray<(symbol: Symbol, root: EntityIndex)>

  /// Makes a layout from the parts that `LayoutBuilder` found. `numbers` also contains entities whose table is missing.
  package init(
    model: ResolvedModel, entities: [EntityLayout?], tables: [TableLayout], joins: [JoinLayout],
    numbers: [EntityIndex: Int64], lacks: LayoutLacks
  ) {
    self.model = model
    self.entities = entities
    self.tables = tables
    self.joins = joins
    self.lacks = lacks
    var indexes = [Int](repeating: -1, count: Int(numbers.values.max() ?? 0) + 1)
    for (index, number) in numbers { indexes[Int(number)] = index }
    indexesByNumber = indexes
    symbolsByNumber = ContiguousArray(
      indexes.enumerated().map { number, index in
        number > 0 && index >= 0 ? (model.entities[index].symbol, model.entities[index].root) : (Symbol(number: 0), -1)
      })
  }

  /// The layout of an entity. Throws the error of the missing table, or `.invalidRequest` for an entity outside of the
  /// store's configuration.
  package func layout(_ entity: ResolvedEntity) throws -> EntityLayout {
    guard entity.index < entities.count, let layout = entities[entity.index] else {
      if let lack = lacks.tables[entity.root] { throw lack }
      throw GraphError(
        .invalidRequest,
        message: "the store does not hold entity \(entity.name): it is not in the store's configuration",
        entity: entity.name)
    }
    return layout
  }

  /// The layout of an object's own entity. Throws `.objectNotFound` for an ID whose entity the model lacks.
  package func layout(of id: ManagedObjectID) throws -> EntityLayout {
    guard let entity = model.entity(of: id) else {
      throw GraphError(.objectNotFound, message: "\(id) is of an entity that the store's model lacks", objectID: id)
    }
    return try layout(entity)
  }

  /// The entity with this `Z_ENT`. Nil for numbers without an entity, and if the table is missing.
  package func entity(number: Int64) -> EntityLayout? { numbered(number).flatMap { entities[$0.index] } }

  /// The entity with this number, also where the file lacks its table.
  package func numbered(_ number: Int64) -> ResolvedEntity? {
    guard number > 0, number < indexesByNumber.count else { return nil }
    let index = indexesByNumber[Int(number)]
    return index < 0 ? nil : model.entities[index]
  }

  /// The number of an entity, from its index in the model. 0 for an entity that the store does not hold.
  package func number(_ index: EntityIndex) -> Int64 { entities[index]?.number ?? 0 }

  /// The first entity of a table that may have objects. It stands for rows of an unknown entity.
  package func firstConcrete(ofTable entity: ResolvedEntity) -> ResolvedEntity? {
    subtree(of: model.entities[entity.root]).first { !$0.entity.isAbstract }?.entity
  }

  /// The entities of a subtree that the store holds.
  package func subtree(of entity: ResolvedEntity) -> [EntityLayout] { entities[entity.subtree].compactMap { $0 } }
}

/// A list of parameters, at least one. `?, ?, ?` for 3. `count` must be positive.
package func parameters(_ count: Int) -> String { "?" + String(repeating: ", ?", count: count - 1) }

/// A name in SQL, quoted where necessary. Plain names consist of ASCII letters, digits and underscores. Quotes within a
/// name are doubled.
package func identifier(_ name: String) -> String {
  let isPlain = name.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
  }
  return isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
}
