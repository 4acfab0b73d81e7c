public import MoonbaseModel

extension ManagedObjectModel {
  /// The model as the `contents` file of an `.xcdatamodel`; reading it gives an equal model.
  ///
  /// Throws `ModelError` with `.unsupportedForm` where the model says what Xcode's form cannot.
  public func xcodeContents() throws(ModelError) -> String {
    try checkNesting()
    return try XcodeModelWriter.write(try withInheritanceFromChildren())
  }

  /// The model as the tables of a Lua model file; reading them gives an equal model.
  ///
  /// Throws `ModelError` with `.unsupportedForm` where a default value or user info is none that Lua can write.
  public func tree() throws(ModelError) -> ModelTree {
    try checkNesting()
    return try ModelTreeWriter.write(try withInheritanceFromChildren())
  }

  /// The model as the source of a Lua model file.
  public func luaSource() throws(ModelError) -> String { try tree().luaSource }
}
