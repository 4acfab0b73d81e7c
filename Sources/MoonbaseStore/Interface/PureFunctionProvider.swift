public import MoonbaseModel
package import MoonbasePlatform

/// A derived attribute that depends only on its inputs, so that a store may compute it in a query.
public struct PureFunction: Sendable {
  /// The entity that declares the attribute; subentities inherit it unless they override it.
  public var entity: String
  /// The name of the attribute.
  public var name: String
  /// The key paths of the inputs, from the object: attributes, or attributes at the end of to-one relationships.
  public var inputs: [String]
  /// The type of the result.
  public var type: AttributeType
  /// Whether the result is null if any input is null.
  public var isStrict: Bool

  /// Makes the description of an attribute's function.
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
/// Contexts, and queries and statements in progress, retain the provider as long as they may call its functions. The
/// functions that stores made from it are released with the provider.
public protocol PureFunctionProvider: AnyObject, Sendable {
  /// A number that is unique in the process for each generation. SQL function names include it, so names never collide.
  var generation: UInt64 { get }
  /// The functions. The index of a function identifies it.
  var functions: [PureFunction] { get }
  /// For each function name, the entities that compute an attribute of that name differently. The parent's function
  /// does not apply to these entities and their subentities.
  var overriding: [String: Set<String>] { get }
  /// The functions made for connections: a `MadeFunctions` that the provider owns exclusively.
  var made: MadeFunctions { get }
  /// Makes the functions for one connection, in a separate registry.
  func makeFunctions() throws -> any PureFunctionInstances
}

/// The pure functions of one connection, used by one thread at a time.
public protocol PureFunctionInstances: AnyObject {
  /// Computes function `index` of the provider from its inputs, in order.
  ///
  /// The call is charged to the calling script and observes its limits. Errors of the function are thrown unchanged.
  func call(_ index: Int, inputs: [Value]) throws -> Value
}

/// Functions with a faster form that a store may call for each row. The calls of one step of a statement share a scope.
/// If the faster form returns no result, the store uses `call`.
package protocol RowFunctionInstances: PureFunctionInstances {
  /// Function `index` in the form for plain values; nil if its evaluation needs `call`.
  func rowCall(_ index: Int) -> RowCall?
  /// The scope that calls of one step share.
  var scope: any CallScope { get }
}

/// Retains the functions made from a provider and releases them with it. Connections, which may live longer, retain
/// none of them.
///
/// ```swift
/// final class Functions: PureFunctionProvider {
///   let made = MadeFunctions()
///   // ...
/// }
/// ```
public final class MadeFunctions: @unchecked Sendable {  // instances are called only on their own connection
  private let instances = Lock<[ObjectIdentifier: Kept]>([:])

  private struct Kept: @unchecked Sendable {  // the instances are only stored here, never called
    let instances: any PureFunctionInstances
  }

  /// An empty store of functions.
  public init() {}

  /// The number of connections that have functions of the provider.
  package var count: Int { instances.withLock { $0.count } }

  /// Retains the functions of one connection.
  package func keep(_ new: any PureFunctionInstances) {
    let kept = Kept(instances: new)
    instances.withLock { $0[ObjectIdentifier(new)] = kept }
  }

  /// Releases the functions of a connection that is gone.
  package func letGo(_ id: ObjectIdentifier) {
    // Releasing the functions may close a script's state; do so outside the lock.
    let gone = instances.withLock { $0.removeValue(forKey: id) }
    withExtendedLifetime(gone) {}
  }
}
