/// Checks the predicates, sort keys and derivations of a model against its entities.
///
/// In a model written for Moonbase a failed check is an error. In a model from Xcode or a store it is a warning,
/// because Xcode compiles such models silently.
///
/// It needs a resolved model, because key paths are followed through relationships.
struct ModelExpressionChecker {
  /// The resolved model.
  let model: ResolvedModel

  /// The warnings. Throws the mistakes of a model that does not allow them.
  ///
  /// At most `Mistakes.greatestCount` warnings are collected.
  func check() throws(ModelError) -> [String] {
    var warnings: [String] = []
    let mistakes = Mistakes()
    func examine(
      _ subject: String, at location: SourceLocation?, entity: String, property: String?,
      _ body: () throws(ModelError) -> Void
    ) throws(ModelError) {
      try ModelError.chargeProperty()
      // Warnings are limited as mistakes are, because each suggestion may compare all names.
      guard warnings.count < Mistakes.greatestCount, !mistakes.isFull else { return }
      do { try body() } catch {
        let mistake = ModelError(
          .invalidModel, message: "\(subject): \(error.message)", at: location, entity: entity, property: property)
        if model.description.allowsUnknownClasses { warnings.append("\(mistake)") } else { mistakes.add(mistake) }
      }
    }
    for entity in model.entities {
      for property in entity.description.fetchedProperties {
        try examine(
          "\(entity.name).\(property.name)", at: property.location, entity: entity.name, property: property.name
        ) {
          () throws(ModelError) in _ = try property.fetchRequest.checked(in: model, source: entity)
        }
      }
      for attribute in entity.description.attributes {
        guard let text = attribute.derivationExpression else { continue }
        try examine(
          "\(entity.name).\(attribute.name)", at: attribute.location, entity: entity.name, property: attribute.name
        ) {
          () throws(ModelError) in try check(derivation: text, of: attribute, in: entity)
        }
      }
    }
    for (name, request) in model.description.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      let part = ModelPart.fetchRequest(name)
      try examine("\(part)", at: model.description.locations[part], entity: request.entityName, property: nil) {
        () throws(ModelError) in _ = try request.checked(in: model)
      }
    }
    try mistakes.finish()
    return warnings
  }

  /// Checks a derivation: its form, its keys, and the type of its result.
  private func check(
    derivation text: String, of attribute: AttributeDescription, in entity: ResolvedEntity
  ) throws(ModelError) {
    guard let expression = DerivationText.expression(text) else {
      throw ModelError(
        .invalidModel,
        message: "\(text) is no derivation: write a key path, now(), uppercase:(name), items.@count or items.price.@sum"
      )
    }
    try check(expression, of: entity)
    if let mistake = mismatch(of: expression, with: attribute.type) {
      throw ModelError(
        .invalidModel, message: "its derivation \(text) gives \(mistake), and it is \(attribute.type.phrase)")
    }
  }

  /// The type of a derivation's result, if the attribute cannot hold it.
  private func mismatch(of expression: Expression, with type: AttributeType) -> String? {
    switch expression {
    case .function("now", _): type == .date ? nil : "a date"
    case .function("uppercase:", _), .function("lowercase:", _), .function("canonical:", _):
      type == .string ? nil : "a string"
    case .function("count:", _), .function("sum:", _), .function("average:", _): type.isNumeric ? nil : "a number"
    default: nil
    }
  }

  /// Checks the keys of an expression.
  private func check(_ expression: Expression, of entity: ResolvedEntity) throws(ModelError) {
    switch expression {
    case .keyPath(_, let path):
      _ = try PathResolver(model: model).extend(PathResolver.Path(end: .entity(entity)), with: path[...], whole: path)
    case .function(_, let arguments): for argument in arguments { try check(argument, of: entity) }
    default: break
    }
  }
}
