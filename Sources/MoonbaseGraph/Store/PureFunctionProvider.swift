public import MoonbaseModel
package import MoonbasePlatform

/// A derived attribute that depends on its inputs only, so that a store may compute it in a query.
public struct PureFunction: Sendable {
  /// The entity that declares it; it holds for subentities too unless one overrides it.
  public var entity: String
  /// The attribute's name.
  public var name: String
  /// Key paths of its inputs, from the object: attributes, or dotted through to-one relationships.
  public var inputs: [String]
  /// The type of the result.
  public var type: AttributeType
  /// Whether the result is null as soon as one input is.
  public var isStrict: Bool

  /// Makes a description.
  public init(entity: String, name: String, inputs: [String], type: AttributeType, isStrict: Bool) {
    self.entity = entity
    self.name = name
    self.inputs = inputs
    self.type = type
    self.isStrict = isStrict
  }
}

/// The pure derived attributes of one generation of extensions.
///
/// It is kept by those who may still ask for its functions: contexts, and the queries and statements on their way. With the last of
/// these goes what stores made of it.
public protocol PureFunctionProvider: AnyObject, Sendable {
  /// A number that is different for every generation in the process. SQL names carry it, so that two never meet.
  var generation: UInt64 { get }
  /// The functions; their index is their identity.
  var functions: [PureFunction] { get }
  /// The entities whose objects compute an attribute that bears a function's name otherwise, by that name: for these and their
  /// subentities no function of a parent holds.
  var overriding: [String: Set<String>] { get }
  /// What was made of the functions for connections: a `MadeFunctions` that the provider makes with itself and gives to nobody else.
  var made: MadeFunctions { get }
  /// Makes the functions anew for one connection, in a registry of their own.
  func makeFunctions() throws -> any PureFunctionInstances
}

/// The pure functions of one connection: used by one thread at a time.
public protocol PureFunctionInstances: AnyObject {
  /// Computes function `index` of the provider from its inputs, in order.
  ///
  /// A limit of the calling script is charged and observed. The error a function raises is thrown as it is.
  func call(_ index: Int, inputs: [Value]) throws -> Value
}

/// Functions with a second form, which a store may call for each row. The calls of one step of a statement share a
/// scope. Where the second form gives no answer, `call` is asked.
package protocol RowFunctionInstances: PureFunctionInstances {
  /// Function `index` as one over plain values; nil where something on the way has to be seen to.
  func rowCall(_ index: Int) -> RowCall?
  /// The scope of its calls.
  var scope: any CallScope { get }
}

/// Keeps what was made of a provider's functions, and lets it go with the provider: connections, which may live longer, keep none of it.
///
/// ```swift
/// final class Functions: PureFunctionProvider {
///   let made = MadeFunctions()
///   // ...
/// }
/// ```
public final class MadeFunctions: @unchecked Sendable {  // who keeps instances for a connection calls them there only
  private let instances = Lock<[ObjectIdentifier: Kept]>([:])

  private struct Kept: @unchecked Sendable {  // nobody calls it from here
    let instances: any PureFunctionInstances
  }

  /// Keeps nothing yet.
  public init() {}

  /// How many connections have functions of the provider.
  package var count: Int { instances.withLock { $0.count } }

  package func keep(_ new: any PureFunctionInstances) {
    let kept = Kept(instances: new)
    instances.withLock { $0[ObjectIdentifier(new)] = kept }
  }

  /// The connection that some were made for is gone.
  package func letGo(_ id: ObjectIdentifier) {
    // It may take a script's state with it, for which nobody else should wait.
    let gone = instances.withLock { $0.removeValue(forKey: id) }
    withExtendedLifetime(gone) {}
  }
}
