package import MoonbaseModel

/// Everything that extends the entities of one context: transformers, value classes, rules and hooks.
///
/// A registry is confined to its context's executor. Code that reloads a part of it calls `didChange()`, and the context
/// picks the new behaviour up at its next use.
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
  /// Extensions by the name of the entity they were written for, in the order they apply.
  public var extensions: [String: [EntityExtension]] = [:]
  /// Value classes by entity and attribute, for a model that could not say so itself.
  public var attributeValueClasses: [String: [String: String]] = [:]
  /// The pure derived attributes of this generation, for stores that can compute them in a query.
  public var pureFunctions: (any PureFunctionProvider)?
  /// The versions of the extensions by name, which stores remember of their saves; an empty text for one without a
  /// version.
  package var versions: [String: String] = [:]
  /// What has to live as long as the registry, for example the script host that made it.
  package var owner: AnyObject?
  /// The provider that made the registry, if it can replace what is in it.
  package var provider: (any ExtensionProvider)?
  /// The provider, if contexts take over its reloads by themselves.
  package var reloaded: (any ReloadedExtensions)?
  /// How the language of the extensions spells a hook, for messages.
  package var hookName: (String) -> String = { $0 }
  /// Told how many bytes the context's objects hold more, or fewer, since the last time.
  package var weigh: ((Int) -> Void)?
  /// The model with what the extensions add, where who made the registry knows it already.
  package var knownModel: ResolvedModel?
  /// How often the extensions were reloaded, where that is counted elsewhere.
  package var knownGeneration: Int?
  /// The generation that the contexts could not take over; they try the next one.
  package var refusedGeneration: Int?
  /// The same where nobody does, and when it was made.
  private var madeModel: (model: ResolvedModel, revision: Int)?
  /// The contexts of the registry, each for as long as it lives.
  private var contexts: ContiguousArray<Unmanaged<ManagedObjectContext>> = []
  /// Whether neither hooks nor rules hold, those of classes and of the model included.
  let isWithoutHooks: Bool

  /// Goes up with every change.
  public private(set) var revision = 0

  /// Makes an empty registry.
  public init() { isWithoutHooks = false }

  /// The transformers, classes and derived attributes of another registry, with neither its hooks nor its rules: what holds where
  /// objects are written past their contexts.
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

  func withoutHooks() -> ExtensionRegistry { ExtensionRegistry(withoutHooksOf: self) }

  /// Says that a part of the registry was replaced: its contexts take that in at once.
  ///
  /// What extensions compute is computed anew. Attributes that the model lacks may come, go, or have another type; those who observe
  /// objects are told.
  public func didChange() {
    revision += 1
    let concerned = all
    for context in concerned { context.takeExtensions() }
    for context in concerned { context.tellObservers() }
  }
}

/// Attributes that only the extensions declare.
extension ExtensionRegistry {
  /// The contexts of the registry.
  var all: [ManagedObjectContext] { contexts.map { $0.takeUnretainedValue() } }

  /// A context has the registry.
  func enter(_ context: ManagedObjectContext) { contexts.append(.passUnretained(context)) }

  /// The context goes.
  func leave(_ context: ManagedObjectContext) {
    let pointer = Unmanaged.passUnretained(context).toOpaque()
    contexts.removeAll { $0.toOpaque() == pointer }
  }

  /// A model with what the extensions add to it. Throws where a name is that of something else.
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

/// Makes the registry of each context: a file of scripts, Swift closures, or several of them in turn.
public protocol ExtensionProvider: Sendable {
  /// Makes a registry of its own for one context, on that context's thread.
  func makeRegistry() throws -> ExtensionRegistry
}

/// Extensions given as Swift closures, each made anew for every context.
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

  /// Makes a provider of nothing.
  public init() {}

  /// Adds an extension of an entity.
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

  /// Adds all that another provider has.
  package mutating func add(_ other: ClosureExtensions) {
    extensions += other.extensions
    transformers += other.transformers
    valueClasses += other.valueClasses
  }

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
