import MoonbaseModel

/// A model from Xcode in which each default and bound fits its attribute's type, converted as by Core Data.
struct FittingModel {
  private(set) var model: ManagedObjectModel
  /// An error for each value that was replaced or removed.
  private(set) var losses: [ModelError] = []

  init(_ model: ManagedObjectModel) {
    self.model = model
    for (place, entity) in model.entities.enumerated() {
      for index in entity.attributes.indices {
        let told = self.model.entities[place].attributes[index].takeFittingValues()
        losses += told.map { Self.loss($0, entity.name, entity.attributes[index]) }
      }
    }
  }

  private static func loss(_ what: String, _ entity: String, _ attribute: AttributeDescription) -> ModelError {
    let place = attribute.location.map { "\($0): " } ?? ""
    return ModelError(
      .unsupportedForm, message: "\(place)\(entity).\(attribute.name) \(what)", entity: entity,
      property: attribute.name)
  }
}
