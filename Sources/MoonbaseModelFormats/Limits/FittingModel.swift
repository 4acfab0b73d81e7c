import MoonbaseModel

/// A model from Xcode in which each default and bound fits its attribute's type, converted as by Core Data.
///
/// Xcode keeps the text of a default after the attribute's type was changed, so such a text may be
/// no value of the type. Formats other than Xcode's need a value.
struct FittingModel {
  /// The model with fitting values.
  private(set) var model: ManagedObjectModel
  /// An error for each value that was replaced or removed.
  private(set) var losses: [ModelError] = []

  /// Converts the values of a model.
  init(_ model: ManagedObjectModel) {
    self.model = model
    for (place, entity) in model.entities.enumerated() {
      for index in entity.attributes.indices {
        let told = self.model.entities[place].attributes[index].replaceMisfits()
        losses += told.map { Self.loss($0, entity.name, entity.attributes[index]) }
      }
    }
  }

  /// The error about a value, with its location.
  private static func loss(_ what: String, _ entity: String, _ attribute: AttributeDescription) -> ModelError {
    let place = attribute.location.map { "\($0): " } ?? ""
    return ModelError(
      .unsupportedForm, message: "\(place)\(entity).\(attribute.name) \(what)", entity: entity,
      property: attribute.name)
  }
}
