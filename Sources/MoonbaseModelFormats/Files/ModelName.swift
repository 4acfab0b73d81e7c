import MoonbasePlatform

/// The name of a model, derived from the path of its file or folder.
package enum ModelName {
  /// The name without format suffixes: `Shop` for `Shop.xcdatamodeld`, `Shop.model.lua` and `shop/model.lua`.
  package static func of(_ path: String) -> String {
    let folder = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
    let names = [withoutSuffix(path), withoutSuffix(folder)]
    return names.first { !["", "/", "model", "contents"].contains($0.lowercased()) } ?? "Model"
  }

  /// The name of a file or folder without its suffix.
  package static func withoutSuffix(_ path: String) -> String {
    let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
    if name.lowercased().hasSuffix(luaSuffix) { return String(name.dropLast(luaSuffix.count)) }
    return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  private static let luaSuffix = ".model.lua"
}
