extension ManagedObjectModel {
  /// The model with defaults, bounds and allowed values converted to the types of their attributes: a date given as
  /// text becomes a date, an integer for a double becomes a double. Throws if a value does not fit. In a model without
  /// its app, Core Data's replacement is used, with a warning.
  func withValuesInTheirTypes(warnings: inout [String]) throws(ModelError) -> Self {
    var model = self
    for (place, entity) in entities.enumerated() {
      for (index, attribute) in entity.attributes.enumerated() {
        var attribute = attribute
        if allowsUnknownClasses {
          let location = attribute.location.map { "\($0): " } ?? ""
          warnings += attribute.replaceMisfits().map { "\(location)\(entity.name).\(attribute.name) \($0)" }
          model.entities[place].attributes[index] = attribute
        }
        guard let typed = try attribute.withValuesInTheirType() else { continue }
        model.entities[place].attributes[index] = typed
      }
    }
    return model
  }
}

extension AttributeDescription {
  /// The attribute with its values converted; nil if no value changes.
  fileprivate func withValuesInTheirType() throws(ModelError) -> Self? {
    if defaultValue.isNull, validation.isEmpty, elements.isEmpty { return nil }
    var typed = self
    typed.defaultValue = try checked(defaultValue)
    if let minimum = validation.minimum { typed.validation.minimum = try checked(minimum) }
    if let maximum = validation.maximum { typed.validation.maximum = try checked(maximum) }
    if let allowed = validation.allowedValues {
      var values: [Value] = []
      for value in allowed { values.append(try checked(value)) }
      typed.validation.allowedValues = values
    }
    for (index, element) in elements.enumerated() {
      if let typedElement = try element.withValuesInTheirType() { typed.elements[index] = typedElement }
    }
    return typed == self ? nil : typed
  }
}
