public import MoonbaseModel

extension ManagedObjectModel {
  /// The model as the `contents` file of an `.xcdatamodel`; reading it gives an equal model.
  ///
  /// ```swift
  /// try model.xcodeContents().write(to: folder.appending(path: "contents"), atomically: true, encoding: .utf8)
  /// ```
  ///
  /// Throws `ModelError` with `.unsupportedForm` where the model says what Xcode's form cannot.
  public func xcodeContents() throws(ModelError) -> String {
    try checkNesting()
    return try XcodeModelWriter.write(try withInheritanceFromChildren())
  }
}
