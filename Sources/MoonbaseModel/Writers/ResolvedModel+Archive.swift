public import MoonbasePlatform

extension ResolvedModel {
  /// The model as Core Data archives it: the contents of a `.mom` file.
  ///
  /// Throws `ModelError` with `.unsupportedForm` where a predicate holds what no archive can.
  public func archive() throws(ModelError) -> Data { try ArchivedModelWriter.write(self) }

  /// The archive, compressed: the contents of a store's table `Z_MODELCACHE`, from which the store opens without a model.
  public func modelCache() throws(ModelError) -> Data { try Deflate.deflate(try archive()) }
}
