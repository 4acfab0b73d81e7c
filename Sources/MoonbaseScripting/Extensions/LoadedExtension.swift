/// An extension that is loaded: where it is from, what it is about, and what its functions cost.
public struct LoadedExtension: Sendable, Hashable {
  /// The name that it gives itself; that of its file where it gives none.
  public var name: String
  /// Its version, where it says one.
  public var version: String?
  /// The file, as it was named.
  public var source: String
  /// The entities that it extends.
  public var entities: [String]
  /// Its functions, as `Person.validate.age` and `transformers.Color.reverse`, with what they cost. Without an
  /// `ExtensionProfile` nothing is counted.
  public var functions: [Function]

  /// The reason why it is disabled; nil for one that is not.
  public var disabledBecause: String?

  /// A function of an extension.
  public struct Function: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its cost so far.
    public var cost: ExtensionProfile.Cost
  }

  /// The cost of all functions. A call from one function to another counts for both.
  public var cost: ExtensionProfile.Cost { functions.reduce(into: .init()) { $0 += $1.cost } }
}

extension LoadedExtension {
  init(_ declaration: ExtensionDeclaration) {
    name = declaration.name ?? declaration.source.name
    version = declaration.version?.description
    source = declaration.source.name
    entities = declaration.entities.map(\.name)
    functions = declaration.functionNames.map { Function(name: $0, cost: .init()) }
  }

  /// With what a profile counted.
  func counted(by profile: ExtensionProfile) -> LoadedExtension {
    var counted = self
    for index in functions.indices {
      counted.functions[index].cost = profile.cost(of: .init(source: source, function: functions[index].name))
    }
    return counted
  }
}

extension ExtensionDeclaration {
  /// The names of all functions that the graph calls.
  var functionNames: [String] {
    transformers.flatMap { transformer in
      ["transformers.\(transformer.name).transform"]
        + (transformer.reverse == nil ? [] : ["transformers.\(transformer.name).reverse"])
    } + entities.flatMap(\.functionNames)
  }
}

extension ExtensionDeclaration.Entity {
  fileprivate var functionNames: [String] {
    let derived = derived.flatMap { derived in
      (derived.get == nil ? [] : ["derived.\(derived.name).get"])
        + (derived.set == nil ? [] : ["derived.\(derived.name).set"])
    }
    let keyed = normalize.map { "normalize.\($0.key)" } + validate.map { "validate.\($0.key)" }
    return (keyed + hooks.keys.sorted() + derived + methods.map { "methods.\($0.key)" }).map { "\(name).\($0)" }
  }
}
