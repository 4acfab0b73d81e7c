/// A loaded extension: its source, the entities that it extends and the cost of its functions.
public struct LoadedExtension: Sendable, Hashable {
  /// The declared name, or the name of the file.
  public var name: String
  /// The declared version; nil if there is none.
  public var version: String?
  /// The file, as the caller named it.
  public var source: String
  /// The extended entities.
  public var entities: [String]
  /// The functions, as `Person.validate.age` and `transformers.Color.reverse`, with their cost. Without an
  /// `ExtensionProfile` the cost is zero.
  public var functions: [Function]

  /// The reason why the extension is disabled; nil if it is enabled.
  public var disabledBecause: String?

  /// A function of an extension.
  public struct Function: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The cost so far.
    public var cost: ExtensionProfile.Cost
  }

  /// The cost of all functions. A nested call counts for both functions.
  public var cost: ExtensionProfile.Cost { functions.reduce(into: .init()) { $0 += $1.cost } }
}

/// The listing of declarations, for `ScriptExtensions.loaded`.
extension LoadedExtension {
  /// Lists a declaration, with costs of zero.
  init(_ declaration: ExtensionDeclaration) {
    name = declaration.name ?? declaration.source.name
    version = declaration.version?.description
    source = declaration.source.name
    entities = declaration.entities.map(\.name)
    functions = declaration.functionNames.map { Function(name: $0, cost: .init()) }
  }

  /// A copy with the costs of a profile.
  func counted(by profile: ExtensionProfile) -> LoadedExtension {
    var counted = self
    for index in functions.indices {
      counted.functions[index].cost = profile.cost(of: .init(source: source, function: functions[index].name))
    }
    return counted
  }
}

extension ExtensionDeclaration {
  /// The names of all functions that the graph calls. As the profile names them. Functions of classes are not listed.
  var functionNames: [String] {
    transformers.flatMap { transformer in
      ["transformers.\(transformer.name).transform"]
        + (transformer.reverse == nil ? [] : ["transformers.\(transformer.name).reverse"])
    } + entities.flatMap(\.functionNames)
  }
}

extension ExtensionDeclaration.Entity {
  /// Rules and normalizers, hooks, derived attributes, then methods.
  fileprivate var functionNames: [String] {
    let derived = derived.flatMap { derived in
      (derived.get == nil ? [] : ["derived.\(derived.name).get"])
        + (derived.set == nil ? [] : ["derived.\(derived.name).set"])
    }
    let keyed = normalize.map { "normalize.\($0.key)" } + validate.map { "validate.\($0.key)" }
    return (keyed + hooks.keys.sorted() + derived + methods.map { "methods.\($0.key)" }).map { "\(name).\($0)" }
  }
}
