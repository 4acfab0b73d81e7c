import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Changes that the page makes. Each change is a step that can be undone.
///
/// Each method answers one POST route. It runs on the thread of the session, changes objects in the
/// session's context, and returns JSON with the names of the changed parts. Nothing is written to
/// the store until `save`.
///
/// The value is created for a single request.
struct InspectEdits {
  /// The session whose objects are changed.
  let session: InspectSession
  /// The context of the session.
  private var context: ManagedObjectContext { session.context }

  /// Makes a change as one step. If the change fails, nothing of it remains.
  ///
  /// - Parameters:
  ///   - name: The name of the step, which the page shows beside the undo button.
  ///   - body: Makes the change.
  /// - Returns: The result of `body`.
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
  ///
  /// Request: `id`, `property`, and one of `text`, `base64` and `clear`.
  ///
  /// - Returns: The object with its values and its violations of rules.
  /// - Throws: `.unknownName`, or `.validation` for a text that is not a valid value.
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
  ///
  /// The page shows such an error beside the field, not at the top.
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
  ///
  /// Request: `id`, `property`, `add` and `remove`. Both lists are part of one step.
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

  /// Creates an object. Request: `entity`.
  ///
  /// - Throws: An `InspectRefusal` for an abstract entity.
  func insert(_ input: InspectInput) throws -> InspectJSON {
    let entity = try session.entity(input.entity)
    guard !entity.isAbstract else { throw InspectRefusal(400, "\(entity.name) is abstract: no object is of it alone") }
    let object = try step("new \(entity.name)") { try context.insert(entity.name) }
    return try InspectObject(object, session).json()
  }

  /// Deletes objects as one step. Request: `ids`.
  func delete(_ input: InspectInput) throws -> InspectJSON {
    let ids = input.ids ?? []
    let objects = try ids.map(session.object)
    try step(ids.count == 1 ? "deletion of \(objects[0].objectID.nameForPeople)" : "deletion of \(ids.count) objects") {
      for object in objects { try context.delete(object) }
    }
    return ["deleted": .int(objects.count)]
  }

  /// Reverts the last step. The answer has its name, or null if there is no step.
  func undo() throws -> InspectJSON { ["done": .text(try session.prompt.undo())] }

  /// Repeats the last reverted step. The answer has its name, or null if there is no step.
  func redo() throws -> InspectJSON { ["done": .text(try session.prompt.redo())] }

  /// Saves all changes. The answer has the number of saved objects and the warnings.
  ///
  /// - Throws: The validation errors and conflicts of the save. Nothing is saved then.
  func save() throws -> InspectJSON {
    let (count, warnings) = try session.prompt.save()
    return ["saved": .int(count), "warnings": .strings(warnings)]
  }

  /// Ends conflicts with saves of another process. The changes in the page are either kept on top of the other changes
  /// or discarded.
  ///
  /// Request: `keep` with the value `own` or `stored`, and `ids`. The steps that could be undone
  /// are forgotten.
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

  /// Discards all unsaved changes, and answers with their number.
  func discard() throws -> InspectJSON {
    let count = session.prompt.unsavedCount
    try session.prompt.rollback()
    return ["discarded": .int(count)]
  }

  /// The objects with changes.
  ///
  /// At most 200 objects are listed, together with the number of all.
  func changes() throws -> InspectJSON {
    let most = 200
    let all = context.insertedObjects + context.updatedObjects + context.deletedObjects
    let shown = all.prefix(most).map { object -> InspectJSON in
      [
        "id": .string(session.name(of: object.objectID)), "short": .string(object.objectID.nameForPeople),
        "state": .text(InspectObject.state(of: object)),
        "label": .text(object.isDeleted ? nil : try? InspectObject.label(of: object)),
        "problems": .array(object.isDeleted ? [] : InspectObject.problems(of: object, session)),
      ]
    }
    return ["changes": .array(Array(shown)), "total": .int(all.count)]
  }
}
