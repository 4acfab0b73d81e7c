import MoonbasePlatform

/// The name of a model, derived from the path of its file or folder.
///
/// Programs use it for the names of stores and generated classes.
package enum ModelName {
  /// The name without format suffixes: `Shop` for `Shop.xcdatamodeld`, `Shop.model.lua` and `shop/model.lua`.
  ///
  /// A file with a general name, such as `contents`, is named after its folder. The last resort is
  /// `Model`.
  package static func of(_ path: String) -> String {
    let folder = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
    let names = [withoutSuffix(path), withoutSuffix(folder)]
    return names.first { !["", "/", "model", "contents"].contains($0.lowercased()) } ?? "Model"
  }

  /// The name of a file or folder without its suffix.
  ///
  /// For example, `Shop` for `Shop.model.lua` and `Shop.mom`.
  package static func withoutSuffix(_ path: String) -> String {
    let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
    if name.lowercased().hasSuffix(luaSuffix) { return String(name.dropLast(luaSuffix.count)) }
    return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  /// The suffix of Lua models, which has two parts.
  private static let luaSuffix = ".model.lua"
}
