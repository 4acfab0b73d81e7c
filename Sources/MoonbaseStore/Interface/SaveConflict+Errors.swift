package import MoonbaseModel

/// Conflicts as errors.
extension SaveConflict {
  /// The conflict as an error with advice, for display. The code is `.mergeConflict` or `.constraintConflict`.
  package var error: GraphError { error() }

  /// The error, with the values that must be unique, and with `name` describing objects that have no row yet.
  package func error(values: [Value] = [], name words: (ManagedObjectID) -> String = { "\($0)" }) -> GraphError {
    let name = objectID.entityName
    switch kind {
    case .changed(let expected, let found):
      return error(
        "\(objectID) was saved by another context (version \(found), expected \(expected)): refresh it and try again")
    case .deleted: return error("\(objectID) was deleted by another context: refresh it and try again")
    case .destinationIsGone(let relationship, let other):
      return error(
        "\(name).\(relationship) of \(objectID): its destination \(other) was deleted by another context, or never was: set it anew",
        relationship, other)
    case .destinationWasAdded(let relationship, let other):
      return error(
        "\(name).\(relationship) of \(objectID), which is to be deleted: another context gave it \(other): refresh it and try "
          + "again", relationship, other)
    case .destinationIsRemoved(let relationship, let other):
      return error(
        "\(name).\(relationship) of \(objectID) leads to \(other) in the store, which is to lead elsewhere or to go: refresh "
          + "\(objectID), or give it another destination, and try again", relationship, other)
    case .destinationIsLinkedElsewhere(let relationship, let other):
      return error(
        "\(name).\(relationship) of \(objectID) is to lead to \(other), which another context led elsewhere: refresh \(other), and try "
          + "again", relationship, other)
    case .sameValues(let properties, let other):
      let names = properties.isEmpty ? "unique values" : properties.joined(separator: ", ")
      let shown = values.isEmpty ? "" : " (\(values.map(\.shownInMessages).joined(separator: ", ")))"
      return GraphError(
        .constraintConflict,
        message: "\(name): another object\(other.map { " (\(words($0)))" } ?? "") has the same \(names)\(shown) as "
          + words(objectID),
        entity: name, property: properties.count == 1 ? properties[0] : nil, objectID: objectID,
        value: values.count == 1 ? values.first : nil)
    }
  }

  /// A `.mergeConflict` with this message.
  private func error(_ message: String, _ property: String? = nil, _ other: ManagedObjectID? = nil) -> GraphError {
    GraphError(
      .mergeConflict, message: message, entity: objectID.entityName, property: property, objectID: objectID,
      value: other.map(Value.objectID))
  }
}

/// Several conflicts as one error.
extension GraphError {
  /// Throws the conflicts of a save as one error; `describe` makes the error of each conflict. The details have an
  /// error for each conflict.
  package static func throwConflicts(
    _ conflicts: [SaveConflict], describe: (SaveConflict) -> GraphError = { $0.error }
  ) throws {
    guard !conflicts.isEmpty else { return }
    let errors = conflicts.map(describe)
    let first = errors[0]
    if conflicts.count == 1 { throw first }
    let isOverValues = conflicts.allSatisfy { if case .sameValues = $0.kind { true } else { false } }
    throw GraphError(
      first.code,
      message: isOverValues
        ? "\(conflicts.count) objects have values that must be unique and that others have; nothing was saved"
        : "\(conflicts.count) objects were changed by another context; nothing was saved",
      entity: first.entity, objectID: first.objectID, details: errors)
  }
}

/// Values in messages.
extension Value {
  /// The beginning of the value, for messages.
  package var beginningOfText: String { beginning ?? description }

  /// The value for messages: text in quotation marks, and long values truncated.
  fileprivate var shownInMessages: String {
    if case .string = self { "\"\(beginningOfText)\"" } else { beginningOfText }
  }
}
