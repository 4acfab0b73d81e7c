public import MoonbasePlatform

extension ResolvedModel {
  /// The model as Core Data archives it: the contents of a `.mom` file.
  ///
  /// Throws `ModelError` with `.unsupportedForm` where a predicate holds what no archive can.
  public func archive() throws(ModelError) -> Data { try ArchivedModelWriter.write(self) }

  /// The archive, compressed: the contents of a store's table `Z_MODELCACHE`, from which the store opens without a model.
  ///
  /// What extensions added to the model is left out: it is theirs, and gone where they are not loaded.
  public func modelCache() throws(ModelError) -> Data { try Deflate.deflate(try withoutAddedAttributes().archive()) }

  private func withoutAddedAttributes() throws(ModelError) -> ResolvedModel {
    guard description.entities.contains(where: { $0.attributes.contains(where: \.isAddedByExtension) }) else {
      return self
    }
    var plain = description
    for index in plain.entities.indices { plain.entities[index].attributes.removeAll(where: \.isAddedByExtension) }
    // Fetch requests of the model may name what extensions add.
    plain.allowsUnknownClasses = true
    return try plain.resolved()
  }
}
