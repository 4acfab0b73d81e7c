import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Changes that the page makes. Each change is a step that can be undone.
struct InspectEdits {
  let session: InspectSession
  private var context: ManagedObjectContext { session.context }

  /// Makes a change as one step. If the change fails, nothing of it remains.
  private func step<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    do {
      // If the body fails, its changes are reverted here, so that they are not part of an undo or redo step.
      let result = try context.changingTogether(body)
      try context.processPendingChanges()
      _ = try session.prompt.endUndoGroup(named: name)
      return result
    } catch {
      if (try? session.prompt.endUndoGroup(named: name)) == true { _ = try? session.prompt.undo() }
      throw error
    }
  }

  /// Sets a property. If a rule rejects the value, the value is kept and reported until a save.
  func set(_ input: InspectInput) throws -> InspectJSON {
    let object = try session.object(input.id)
    let name = input.property ?? ""
    guard let property = object.entity.property(name) else {
      throw GraphError.unknownProperty(name, of: object.entity, id: object.objectID)
    }
    try step("change of \(name)") {
      do {
        let value = try input.value(for: property, of: object, in: session)
        try object.setValue(value, forKey: name)
      } catch {
        throw Self.atField(error, property, object)
      }
    }
    return try InspectObject(object, session).json()
  }

  /// The error with its message assigned to the field of the property.
  private static func atField(_ error: any Error, _ property: ResolvedProperty, _ object: ManagedObject) -> any Error {
    guard !(error is InspectRefusal), error is any CodedError else { return error }
    var result = (error as? GraphError) ?? GraphError(.validation, message: InspectFailure.message(of: error))
    if result.code == .invalidValue { result.code = .validation }
    guard result.details.isEmpty else { return result }
    result.entity = object.entity.name
    result.property = property.name
    result.objectID = object.objectID
    return result
  }

  /// Adds objects to a to-many relationship, and removes others.
  func link(_ input: InspectInput) throws -> InspectJSON {
    let object = try session.object(input.id)
    let name = input.property ?? ""
    guard let property = object.entity.property(name), property.relationship?.isToMany == true else {
      throw InspectRefusal(400, "\(object.entity.name) has no to-many relationship '\(name.prefix(100))'")
    }
    try step("change of \(name)") {
      for id in input.add ?? [] { try object.add(session.object(id), to: name) }
      for id in input.remove ?? [] { try object.remove(session.object(id), from: name) }
    }
    return try InspectObject(object, session).json()
  }

  func insert(_ input: InspectInput) throws -> InspectJSON {
    let entity = try session.entity(input.entity)
    guard !entity.isAbstract else { throw InspectRefusal(400, "\(entity.name) is abstract: no object is of it alone") }
    let object = try step("new \(entity.name)") { try context.insert(entity.name) }
    return try InspectObject(object, session).json()
  }

  func delete(_ input: InspectInput) throws -> InspectJSON {
    let ids = input.ids ?? []
    let objects = try ids.map(session.object)
    try step(ids.count == 1 ? "deletion of \(objects[0].nameForPeople)" : "deletion of \(ids.count) objects") {
      for object in objects { try context.delete(object) }
    }
    return ["deleted": .int(objects.count)]
  }

  func undo() throws -> InspectJSON { ["done": .text(try session.prompt.undo())] }

  func redo() throws -> InspectJSON { ["done": .text(try session.prompt.redo())] }

  func save() throws -> InspectJSON {
    let (count, warnings) = try session.prompt.save()
    return ["saved": .int(count), "warnings": .strings(warnings)]
  }

  /// Ends conflicts with saves of another process. The changes in the page are either kept on top of the other changes
  /// or discarded.
  func resolve(_ input: InspectInput) throws -> InspectJSON {
    guard let keep = input.keep.flatMap(InspectInput.Side.init) else {
      throw InspectRefusal(400, "the request has to say what it keeps: 'own' or 'stored'")
    }
    let objects = try (input.ids ?? []).map(session.object)
    for object in objects { try context.refresh(object, mergeChanges: keep == .own) }
    // Undoing an earlier step would replace the values that the other process saved.
    context.undoManager?.removeAllActions()
    return ["resolved": .int(objects.count)]
  }

  func discard() throws -> InspectJSON {
    let count = session.prompt.unsavedCount
    try session.prompt.rollback()
    return ["discarded": .int(count)]
  }

  /// The objects with changes.
  func changes() throws -> InspectJSON {
    let most = 200
    let all = context.insertedObjects + context.updatedObjects + context.deletedObjects
    let shown = all.prefix(most).map { object -> InspectJSON in
      [
        "id": .string(session.name(of: object.objectID)), "short": .string(object.nameForPeople),
        "state": .text(InspectObject.state(of: object)),
        "label": .text(object.isDeleted ? nil : try? InspectObject.label(of: object)),
        "problems": .array(object.isDeleted ? [] : InspectObject.problems(of: object, session)),
      ]
    }
    return ["changes": .array(Array(shown)), "total": .int(all.count)]
  }
}
