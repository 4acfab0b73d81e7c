package import MoonbaseModel

/// The transformers, value classes, rules and hooks that extend the entities of one context.
///
/// A registry is confined to its context's executor. Code that replaces a part of a registry calls `didChange()`, and
/// the contexts adopt the new behaviour.
///
/// ```swift
/// let registry = ExtensionRegistry()
/// registry.transformers["Reversed"] = reversed
/// let context = ManagedObjectContext(coordinator, extensionRegistry: registry)
/// ```
public final class ExtensionRegistry {
  /// Transformers by registered name.
  public var transformers: [String: ValueTransformer] = [:]
  /// Value classes by registered name.
  public var valueClasses: [String: ValueClass] = [:]
  /// Extensions by the name of the entity they were written for, in the order of evaluation.
  public var extensions: [String: [EntityExtension]] = [:]
  /// Value classes by entity and attribute, for a model format that cannot name a class.
  public var attributeValueClasses: [String: [String: String]] = [:]
  /// The pure derived attributes of this generation, which a store can compute within a query.
  public var pureFunctions: (any PureFunctionProvider)?
  /// The versions of extensions by name, which a store records with each save; empty for an extension without a
  /// version.
  package var versions: [String: String] = [:]
  /// An object to keep alive with the registry, for example the script host that made it.
  package var owner: AnyObject?
  /// The provider that made the registry, if the provider can replace its contents.
  package var provider: (any ExtensionProvider)?
  /// The provider, if contexts adopt its reloads automatically.
  package var reloaded: (any ReloadedExtensions)?
  /// How the language of the extensions spells a hook, for messages.
  package var hookName: (String) -> String = { $0 }
  /// Called with the change in bytes of the memory that the context's objects hold.
  package var weigh: ((Int) -> Void)?
  /// The model with added attributes, if the registry's maker already built it.
  package var knownModel: ResolvedModel?
  /// The number of reloads of the extensions; nil where reloads are not counted elsewhere.
  package var knownGeneration: Int?
  /// The last generation that the contexts refused; they try the next one.
  package var refusedGeneration: Int?
  /// The model with added attributes that this registry built, with the revision it was built for.
  private var madeModel: (model: ResolvedModel, revision: Int)?
  /// The registry's contexts, unretained; each is removed when it is deinitialized.
  private var contexts: ContiguousArray<Unmanaged<ManagedObjectContext>> = []
  /// Whether hooks and rules are disabled, those of classes and of the model included.
  let isWithoutHooks: Bool

  /// Counts the calls of `didChange()`.
  public private(set) var revision = 0

  /// Makes an empty registry.
  public init() { isWithoutHooks = false }

  /// A copy of a registry with transformers, classes and derived attributes, but without hooks and rules.
  ///
  /// Used where objects are written past their contexts.
  private init(withoutHooksOf other: ExtensionRegistry) {
    isWithoutHooks = true
    transformers = other.transformers
    valueClasses = other.valueClasses
    attributeValueClasses = other.attributeValueClasses
    pureFunctions = other.pureFunctions
    (knownModel, knownGeneration) = (other.knownModel, other.knownGeneration)
    owner = other.owner
    hookName = other.hookName
    weigh = other.weigh
    extensions = other.extensions.mapValues { entries in
      entries.map { entry in
        var bare = EntityExtension()
        (bare.derived, bare.stored) = (entry.derived, entry.stored)
        (bare.methods, bare.methodOrigins) = (entry.methods, entry.methodOrigins)
        return bare
      }
    }
  }

  /// A copy of the registry without hooks and rules.
  package func withoutHooks() -> ExtensionRegistry { ExtensionRegistry(withoutHooksOf: self) }

  /// Announces that a part of the registry was replaced; its contexts adopt the change before the call returns.
  ///
  /// Computed values are computed again. Attributes that only extensions declare may appear, disappear or change type.
  /// Observers of objects are notified.
  public func didChange() {
    revision += 1
    let concerned = all
    for context in concerned { context.adoptExtensions() }
    for context in concerned { context.tellObservers() }
  }
}

/// The registry's contexts, and the attributes that only extensions declare.
extension ExtensionRegistry {
  /// The contexts of the registry.
  var all: [ManagedObjectContext] { contexts.map { $0.takeUnretainedValue() } }

  /// Registers a context.
  func enter(_ context: ManagedObjectContext) { contexts.append(.passUnretained(context)) }

  /// Removes a context.
  func leave(_ context: ManagedObjectContext) {
    let pointer = Unmanaged.passUnretained(context).toOpaque()
    contexts.removeAll { $0.toOpaque() == pointer }
  }

  /// The model with the attributes that the extensions add.
  ///
  /// Throws if the name of an added attribute already belongs to another property.
  func model(over given: ResolvedModel) throws -> ResolvedModel {
    let base = given.base ?? given
    if let knownModel, (knownModel.base ?? knownModel) === base { return knownModel }
    if let (model, made) = madeModel, made == revision, (model.base ?? model) === base { return model }
    let model = try base.adding(attributes(addedTo: base), generation: knownGeneration ?? revision)
    madeModel = (model, revision)
    return model
  }

  private func attributes(addedTo base: ResolvedModel) -> [AddedAttribute] {
    guard !extensions.isEmpty else { return [] }
    return base.entities.flatMap { entity in
      (extensions[entity.name] ?? []).flatMap(\.derived).compactMap { derived in
        guard entity.slot(derived.name) == nil else { return nil }
        return AddedAttribute(entity: entity.name, name: derived.name, type: derived.type)
      }
    }
  }
}

/// Makes the registry of each context, from a file of scripts, Swift closures, or several providers.
public protocol ExtensionProvider: Sendable {
  /// Makes a new registry for one context, on that context's thread.
  func makeRegistry() throws -> ExtensionRegistry
}

/// Extensions as Swift closures, evaluated once for every context.
///
/// ```swift
/// var extensions = ClosureExtensions()
/// extensions.extend("Person") {
///   var person = EntityExtension()
///   person.awakeFromInsert = { try $0.setValue(.date(Date()), forKey: "created") }
///   return person
/// }
/// let context = try ManagedObjectContext(coordinator, extensions: extensions)
/// ```
public struct ClosureExtensions: ExtensionProvider {
  private var extensions: [(entity: String, make: @Sendable () -> EntityExtension)] = []
  private var transformers: [@Sendable () -> ValueTransformer] = []
  private var valueClasses: [@Sendable () -> ValueClass] = []

  /// Makes a provider without extensions.
  public init() {}

  /// Adds an extension for an entity.
  public mutating func extend(_ entity: String, _ make: @escaping @Sendable () -> EntityExtension) {
    extensions.append((entity, make))
  }

  /// Adds a transformer.
  public mutating func register(_ make: @escaping @Sendable () -> ValueTransformer) {
    transformers.append(make)
  }

  /// Adds a value class.
  public mutating func register(_ make: @escaping @Sendable () -> ValueClass) {
    valueClasses.append(make)
  }

  /// Adds everything of another provider.
  package mutating func add(_ other: ClosureExtensions) {
    extensions += other.extensions
    transformers += other.transformers
    valueClasses += other.valueClasses
  }

  /// Makes a registry with a new instance of each extension, transformer and value class.
  public func makeRegistry() -> ExtensionRegistry {
    let registry = ExtensionRegistry()
    for entry in extensions { registry.extensions[entry.entity, default: []].append(entry.make()) }
    for make in transformers {
      let transformer = make()
      registry.transformers[transformer.name] = transformer
    }
    for make in valueClasses {
      let valueClass = make()
      registry.valueClasses[valueClass.name] = valueClass
    }
    return registry
  }
}
