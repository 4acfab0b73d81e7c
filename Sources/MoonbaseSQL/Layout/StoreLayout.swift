import MoonbaseGraph
package import MoonbaseModel

/// The places of a model's entities and properties in a file: Core Data's tables, columns and numbers.
///
/// The names follow from the model. In an existing file they are looked up, because old frameworks named some tables
/// and columns differently.
package struct StoreLayout: Sendable {
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
  /// The indexes of the model's entities by `Z_ENT`, −1 for unused numbers.
  private let indexesByNumber: [Int]
  /// Symbols and root entities by `Z_ENT`. A root of −1 stands for no entity. All row plans share this list.
  package let symbolsByNumber: ContiguousArray<(symbol: Symbol, root: EntityIndex)>

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

  /// The layout of an entity.
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

  /// The layout of an object's own entity.
  package func layout(of id: ManagedObjectID) throws -> EntityLayout {
    guard let entity = model.entity(of: id) else {
      throw GraphError(.objectNotFound, message: "\(id) is of an entity that the store's model lacks", objectID: id)
    }
    return try layout(entity)
  }

  /// The entity with this `Z_ENT`.
  package func entity(number: Int64) -> EntityLayout? { numbered(number).flatMap { entities[$0.index] } }

  /// The entity with this number, also where the file lacks its table.
  package func numbered(_ number: Int64) -> ResolvedEntity? {
    guard number > 0, number < indexesByNumber.count else { return nil }
    let index = indexesByNumber[Int(number)]
    return index < 0 ? nil : model.entities[index]
  }

  /// The number of an entity, from its index in the model.
  package func number(_ index: EntityIndex) -> Int64 { entities[index]?.number ?? 0 }

  /// The first entity of a table that may have objects. It stands for rows of an unknown entity.
  package func firstConcrete(ofTable entity: ResolvedEntity) -> ResolvedEntity? {
    subtree(of: model.entities[entity.root]).first { !$0.entity.isAbstract }?.entity
  }

  /// The entities of a subtree that the store holds.
  package func subtree(of entity: ResolvedEntity) -> [EntityLayout] { entities[entity.subtree].compactMap { $0 } }
}

/// A list of parameters, at least one.
package func parameters(_ count: Int) -> String { "?" + String(repeating: ", ?", count: count - 1) }

/// A name in SQL, quoted where necessary.
package func identifier(_ name: String) -> String {
  let isPlain = name.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
  }
  return isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
}
