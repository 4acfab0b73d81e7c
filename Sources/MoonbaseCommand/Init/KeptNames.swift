import MoonbaseModel
import MoonbasePlatform

/// The transformers and classes of an app that a model names. A new project contains versions of them that keep the
/// bytes unchanged.
///
/// Without these versions, the store could not be opened, because its model refers to names that
/// only the app defines. The user replaces each version by code that gives the bytes a meaning.
struct KeptNames {
  /// The names of the transformers. The value is the class of the attribute, or nil if the model
  /// names none.
  private var transformers: [String: String?] = [:]
  /// The names of the classes.
  private var classes: Set<String> = []

  /// Collects the names of transformers and classes that Moonbase does not provide.
  ///
  /// - Parameter model: The model of the existing store.
  init(of model: ResolvedModel) {
    for attribute in model.entities.flatMap(\.description.attributes) {
      let className = attribute.valueClassName.flatMap { AppleNames.isValueClass($0) ? nil : $0 }
      if let className { classes.insert(className) }
      guard attribute.type == .transformable, let name = attribute.valueTransformerName, !AppleNames.isTransformer(name)
      else { continue }
      transformers[name] = .some(className)
    }
  }

  /// The local Lua tables for the classes.
  ///
  /// Returns an empty text if the model names no classes.
  var classTables: String {
    guard !classes.isEmpty else { return "" }
    let tables = classes.sorted().map { "classes[\($0.luaText)] = { __name = \($0.luaText) }\n" }.joined()
    return "-- The model names these classes. Their values keep the bytes, in value.bytes: write what they mean.\n"
      + "local classes = {}\n\(tables)"
      + "for _, class in pairs(classes) do class.__index = class end\n\n"
  }

  /// The entries of an extension's table, or an empty text if there are none.
  ///
  /// They have the keys `transformers` and `classes`, as an extension returns them.
  var entries: String {
    guard !transformers.isEmpty || !classes.isEmpty else { return "" }
    let lines = transformers.sorted { $0.key < $1.key }.map { name, className in
      guard let className else {
        return
          "[\(name.luaText)] = { transform = function(bytes) return bytes end, reverse = function(bytes) return bytes end },"
      }
      let table = "classes[\(className.luaText)]"
      return "[\(name.luaText)] = { class = \(className.luaText), transform = function(value) return value.bytes end, "
        + "reverse = function(bytes) return setmetatable({ bytes = bytes }, \(table)) end },"
    }
    let classes = classes.isEmpty ? "" : "classes = classes,\n  "
    return "\(classes)transformers = {\n    \(lines.joined(separator: "\n    "))\n  },\n  "
  }
}
