public import MoonbaseModel

extension ManagedObjectModel {
  /// The model as the `contents` file of an `.xcdatamodel`, which reads back as an equal model.
  ///
  /// ```swift
  /// try model.xcodeContents().write(to: folder.appending(path: "contents"), atomically: true, encoding: .utf8)
  /// ```
  ///
  /// Throws `ModelError` with `.unsupportedForm` for settings that Xcode's format cannot hold.
  public func xcodeContents() throws(ModelError) -> String {
    try checkNesting()
    return try XcodeModelWriter.write(try withInheritanceFromChildren())
  }
}
