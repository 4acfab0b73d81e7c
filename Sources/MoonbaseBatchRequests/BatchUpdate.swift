import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression

/// A batch update with resolved names and checked expressions.
struct BatchUpdate {
  let fetchRequest: FetchRequest
  let resultType: BatchResultType
  private let entity: ResolvedEntity
  /// The attributes, in the order of their slots.
  let slots: [Slot]
  /// The new value of each attribute, in the form for stores.
  private let stated: [StoreBatchRequest.NewValue]
  private let computed: [Computation]

  private enum Computation {
    case expression(BatchExpression)
    case function(BatchUpdateFunction, of: [Slot])
  }

  init(_ request: BatchUpdateRequest, of entity: ResolvedEntity, in model: ResolvedModel) throws {
    self.entity = entity
    resultType = request.resultType
    guard !request.propertiesToUpdate.isEmpty || !request.functionsToUpdate.isEmpty else {
      throw GraphError(
        .invalidRequest, message: "a batch update of \(entity.name) sets nothing: say what is to be set",
        entity: entity.name)
    }
    var fetch = FetchRequest(request.entityName, where: request.predicate)
    fetch.includesSubentities = request.includesSubentities
    fetchRequest = try entity.checkedForBatch(fetch)
    var attributes = BatchAttributes(entity, verb: "updated")
    var entries: [(slot: Slot, stated: StoreBatchRequest.NewValue, computed: Computation)] = []
    for (key, expression) in request.propertiesToUpdate {
      let slot = try attributes.slot(key)
      let (stated, compiled) = try Self.compiled(expression, for: slot, of: entity, in: model)
      entries.append((slot, .expression(stated), .expression(compiled)))
    }
    for (key, function) in request.functionsToUpdate {
      let slot = try attributes.slot(key)
      guard !entries.contains(where: { $0.slot == slot }) else {
        throw GraphError(
          .invalidRequest, message: "\(entity.name).\(key): the batch update has an expression and a function for it",
          entity: entity.name, property: key)
      }
      let inputs = function.inputs.isEmpty ? [slot] : try function.inputs.map { try entity.input($0, toSet: key) }
      entries.append((slot, .function(function, of: inputs), .function(function, of: inputs)))
    }
    entries.sort { $0.slot < $1.slot }
    (slots, stated, computed) = (entries.map(\.slot), entries.map(\.stated), entries.map(\.computed))
  }

  /// Compiles the expression for an attribute; a constant is converted to the attribute's type.
  private static func compiled(
    _ expression: Expression, for slot: Slot, of entity: ResolvedEntity, in model: ResolvedModel
  ) throws -> (Expression, BatchExpression) {
    do {
      var expression = expression
      // A constant that does not fit fails before rows are read.
      if case .constant(let value) = expression, let fitting = try entity.properties[slot].attribute?.checked(value) {
        expression = .constant(fitting)
      }
      return (expression, try BatchExpression(expression, entity: entity, in: model))
    } catch {
      guard !error.code.endsRun else { throw error }
      throw refused(entity.properties[slot].name, of: entity, because: error)
    }
  }

  /// The new values of an object's attributes.
  func values(for object: ManagedObject) throws -> [Value] {
    try zip(slots, computed).map { slot, computation in
      guard let attribute = entity.properties[slot].attribute else { return .null }
      switch computation {
      case .expression(let expression):
        do {
          return try attribute.checked(expression.value(object))
        } catch let error as ModelError where !error.code.endsRun {
          throw Self.refused(attribute.name, of: entity, because: error, id: object.objectID)
        }
      case .function(let function, let inputs):
        let cells = try inputs.map { Snapshot.Cell.value(try object.value(at: $0)) }
        var result = Value.null
        try cells.withUnsafeBufferPointer { cells in
          try function.call(cells, toSet: attribute, of: entity, id: { object.objectID }) { result = $0.asValue }
        }
        return result
      }
    }
  }

  /// The error for a value that an attribute cannot have, with the row.
  private static func refused(
    _ name: String, of entity: ResolvedEntity, because error: ModelError, id: ManagedObjectID? = nil
  ) -> GraphError {
    let row = id.map { " for \($0)" } ?? ""
    var refusal = GraphError(
      error.code, message: "\(entity.name).\(name): the batch update sets it\(row): \(error.message)",
      entity: entity.name, property: name, objectID: id, underlying: error)
    refusal.reason = error.message
    return refusal
  }

  /// The result of a store that executed the update itself; nil if none did.
  func executed(by asker: ManagedObjectContext) throws -> StoreBatchResult? {
    let kind = StoreBatchRequest.Kind.update(Dictionary(uniqueKeysWithValues: zip(slots, stated)))
    return try asker.executeInStore(kind, fetchRequest, of: entity, resultType)
  }
}

/// A batch deletion with resolved names.
struct BatchDeletion {
  let fetchRequest: FetchRequest
  let resultType: BatchResultType
  private let entity: ResolvedEntity

  init(_ request: BatchDeleteRequest, in context: ManagedObjectContext) throws {
    var fetch = request.fetchRequest
    if let named = request.objectIDs {
      // A URI may name an object by another entity with the same table.
      var ids: [ManagedObjectID] = []
      try named.forEachBatch { batch in
        ids += try context.coordinator.known(batch)
        return true
      }
      fetch.entityName = try Self.entity(of: ids, in: context).name
      fetch.predicate = BatchDeleteRequest.condition(ids)
    }
    entity = try context.entity(fetch.entityName)
    fetchRequest = try entity.checkedForBatch(fetch)
    resultType = request.resultType
  }

  /// The most specific entity common to all objects.
  private static func entity(of ids: [ManagedObjectID], in context: ManagedObjectContext) throws -> ResolvedEntity {
    var common: ResolvedEntity?
    for id in ids {
      guard !id.isTemporaryID, let entity = context.model.entity(of: id) else {
        throw GraphError(
          .invalidRequest,
          message:
            "\(id) was to be deleted by a batch request, and is the ID of no saved object: delete it in its context",
          entity: id.entityName, objectID: id)
      }
      _ = try context.coordinator.store(of: id)
      var next: ResolvedEntity? = common ?? entity
      while let ancestor = next, !entity.isKind(of: ancestor) {
        next = ancestor.parent.map { context.model.entities[$0] }
      }
      guard let next else {
        throw GraphError(
          .invalidRequest,
          message:
            "a batch request was to delete objects of \(common?.name ?? "") and of \(entity.name): make one for each",
          entity: entity.name, objectID: id)
      }
      common = next
    }
    guard let common else { throw GraphError(.invalidRequest, message: "a batch request names no objects") }
    return common
  }

  /// The result of a store that executed the deletion itself; nil if none did.
  func executed(by asker: ManagedObjectContext) throws -> StoreBatchResult? {
    try asker.executeInStore(.delete, fetchRequest, of: entity, resultType)
  }
}

/// The attributes that a batch request may set, by name, resolved on demand.
struct BatchAttributes {
  private let entity: ResolvedEntity
  private let verb: String
  private var known: [String: Slot] = [:]

  init(_ entity: ResolvedEntity, verb: String) {
    self.entity = entity
    self.verb = verb
  }

  /// The slot of a persistent attribute. Throws for other names.
  mutating func slot(_ key: String) throws -> Slot {
    if let slot = known[key] { return slot }
    guard let property = entity.property(key) else { throw GraphError.unknownProperty(key, of: entity) }
    guard let attribute = property.attribute else {
      throw refusal(key, "is a relationship, which no batch request sets: change its objects in a context")
    }
    guard !property.isTransient else { throw refusal(key, "is transient, and in no store") }
    guard attribute.derivationExpression == nil else { throw refusal(key, "is computed by the store") }
    known[key] = property.slot
    return property.slot
  }

  private func refusal(_ key: String, _ reason: String) -> GraphError {
    GraphError(
      .invalidRequest, message: "\(entity.name).\(key) was to be \(verb) by a batch request, and \(reason)",
      entity: entity.name, property: key)
  }
}

extension ResolvedEntity {
  /// The slot of an attribute that a batch update's function reads.
  fileprivate func input(_ key: String, toSet name: String) throws -> Slot {
    guard let property = property(key) else { throw GraphError.unknownProperty(key, of: self) }
    guard property.attribute != nil, !property.isTransient else {
      throw GraphError(
        .invalidRequest,
        message: "\(self.name).\(name): the batch update's function reads \(key), which is no persistent attribute",
        entity: self.name, property: name)
    }
    return property.slot
  }

  /// The fetch request for the affected objects, with saved values only.
  fileprivate func checkedForBatch(_ request: FetchRequest) throws -> FetchRequest {
    guard !isAbstract || request.includesSubentities else {
      throw GraphError(
        .invalidRequest,
        message: "\(name) is abstract, and its subentities are left out: nothing can match the batch request",
        entity: name)
    }
    var fetch = FetchRequest(name, where: request.predicate)
    fetch.includesSubentities = request.includesSubentities
    fetch.sortDescriptors = request.sortDescriptors
    (fetch.fetchLimit, fetch.fetchOffset) = (request.fetchLimit, request.fetchOffset)
    return fetch
  }
}
