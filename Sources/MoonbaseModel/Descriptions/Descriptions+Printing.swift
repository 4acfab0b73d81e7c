extension EntityDescription: CustomStringConvertible {
  /// The entity with its properties, one per line.
  public var description: String {
    let head = "\(isAbstract ? "abstract " : "")entity \(name)\(superentityName.map { ": \($0)" } ?? "")"
    let lines =
      attributes.map { "  \($0)" } + relationships.map { "  \($0)" } + fetchedProperties.map { "  \($0)" }
      + uniquenessConstraints.map { "  unique \($0.joined(separator: ", "))" }
      + indexes.map { "  index \($0.name)(\($0.elements.map(\.property).joined(separator: ", ")))" }
    return ([head] + lines).joined(separator: "\n")
  }
}

extension AttributeDescription: CustomStringConvertible {
  /// Name and type, and the settings that differ from a plain optional attribute, for example `age: integer16 required
  /// = 0`.
  public var description: String {
    var words = ["\(name): \(type.modelName)"]
    if !isOptional { words.append("required") }
    if isTransient { words.append("transient") }
    if let valueTransformerName { words.append("by \(valueTransformerName)") }
    if let derivationExpression { words.append("derived from \(derivationExpression)") }
    if !defaultValue.isNull { words.append("= \(defaultValue.text ?? defaultValue.typeDescription)") }
    return words.joined(separator: " ")
  }
}

extension RelationshipDescription: CustomStringConvertible {
  /// Name, direction, destination and inverse, for example `friends: to many Person (inverse friends)`.
  public var description: String {
    var words = ["\(name): to\(isToMany ? " many" : "") \(destinationEntityName)"]
    if let inverseName { words.append("(inverse \(inverseName))") }
    if !isOptional { words.append("required") }
    if isOrdered { words.append("ordered") }
    if isTransient { words.append("transient") }
    if deleteRule != .nullify { words.append("on delete \(deleteRule.modelName)") }
    return words.joined(separator: " ")
  }
}

extension FetchedPropertyDescription: CustomStringConvertible {
  /// Name, entity and predicate.
  public var description: String {
    "\(name): fetch \(fetchRequest.entityName)\(fetchRequest.predicate.map { " where \($0)" } ?? "")"
  }
}
