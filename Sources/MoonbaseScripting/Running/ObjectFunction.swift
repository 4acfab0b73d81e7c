public import MoonbaseGraph
package import MoonbaseBatchRequests
import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform

/// A script's function over objects: a file that returns `function(object, context)`, or Lua code that accesses both by
/// these names.
///
/// ```swift
/// let function = try ObjectFunction(body: ScriptSource(name: "--do", text: "object.age = object.age + 1"), in: domain)
/// try function.call(person, in: context)
/// ```
///
/// Belongs to a domain and its thread. For each object the caller chooses: `call(_:in:)` works on objects with hooks
/// and rules; `runInStore` updates all rows at once where the result is the same.
public final class ObjectFunction {
  private let domain: ScriptDomain
  /// The prepared call with two arguments.
  private let call: LuaFastCall
  /// The script's function.
  private let function: LuaFunction
  /// The parsed code; nil if it was not recognised.
  private let code: ObjectCode?

  /// Compiles Lua code. Throws `LuaError` of kind `syntax`. The code may use `return` to leave early.
  public init(body source: ScriptSource, in domain: ScriptDomain) throws {
    let environment = try domain.state.environment([:])
    // On the first line, so that line numbers are unchanged.
    let text = "local object, context = ... " + source.text
    function = try domain.state.load(text, name: source.name, in: environment)
    (call, self.domain) = (LuaFastCall(function, parameters: 2), domain)
    code = ObjectCode(body: source.text)
  }

  /// Runs a file that returns the function. Throws `ScriptError` for another result.
  public init(_ source: ScriptSource, in domain: ScriptDomain) throws {
    let environment = try domain.state.environment([:])
    let results = try domain.state.load(source.text, name: source.name, in: environment).call([])
    guard case .function(let function)? = results.first else {
      let found = results.first?.typePhrase ?? "nothing"
      throw ScriptError(
        .malformedFile,
        message:
          "a file of --script returns function(object, context) … end, and this one returns \(found): --do takes statements",
        at: SourceLocation(file: source.name, line: 1))
    }
    self.function = function
    (call, self.domain) = (LuaFastCall(function, parameters: 2), domain)
    code = ObjectCode(file: source.text)
  }

  /// Calls the function for an object. On an error all its changes in the object's context are undone. The function
  /// must not save.
  ///
  /// Throws the error of the code. Changes to other objects in the context are undone as well.
  public func call(_ object: ManagedObject, in context: ManagedObjectContext) throws {
    try context.undoingOnFailure {
      try context.refusingSaves {
        try call.run { arguments in
          try arguments.set(0, object: object, as: try domain.types.type(of: object.entity))
          try arguments.set(1, to: .object(domain.types.context.handle(context)))
        } reading: { _ in
        }
      }
    }
  }

  /// Whether `runInStore` may support the text of a script or of Lua code. A quick test of the text alone; the entity
  /// and its rules decide in the end.
  package static func maySuitStore(_ source: ScriptSource, isBody: Bool) -> Bool {
    (isBody ? ObjectCode(body: source.text) : ObjectCode(file: source.text)) != nil
  }

  /// Makes the store set attributes of all matching objects in a single statement, with the same result as calling the
  /// function for each and saving; nil, without changes, if that is not possible.
  ///
  /// Not possible are unrecognised code, requests with limit, offset or without subentities, and entities whose hooks
  /// or rules need objects. Throws errors of the store, and of rules that do not hold.
  package func runInStore(
    _ request: FetchRequest, in context: ManagedObjectContext
  ) throws -> HookFreeUpdate.Outcome? {
    // An update applies to all matches, in no order.
    guard let code, request.fetchLimit == 0, request.fetchOffset == 0, request.includesSubentities else { return nil }
    let entity = try context.entity(request.entityName)
    guard
      let update = try HookFreeUpdate(
        code.attributes, of: code.inputs, in: entity, where: request.predicate, context)
    else { return nil }
    var functions: [HookFreeUpdate.Function] = []
    for (attribute, assignment) in zip(code.attributes, update.assignments) {
      guard let function = try self.function(setting: attribute, by: code, of: entity, assignment) else { return nil }
      functions.append(function)
    }
    do {
      return try update.run(functions)
    } catch let error as GraphError where error.code == .contextBusy {
      // A rule queries the store, which only objects may do.
      return nil
    }
  }

  /// A function of the update for an attribute, with its rules in the same call where all are functions of scripts; nil
  /// if the text does not compile.
  private func function(
    setting attribute: String, by code: ObjectCode, of entity: ResolvedEntity, _ assignment: HookFreeUpdate.Assignment
  ) throws -> HookFreeUpdate.Function? {
    // The text may still be invalid Lua.
    guard let text = code.text(setting: attribute, types: { entity.property($0)?.attributeType }),
      let chunk = try? domain.state.load(text, name: "each", in: domain.state.environment([:])),
      let function = try chunk.call([]).first?.functionValue
    else { return nil }
    let count = code.inputs.count
    let rules = assignment.rules.compactMap { place, rule in
      (rule.origin as? ScriptRule).map { (place: place, rule: $0) }
    }
    // Rules evaluated in the same call cost only a Lua call each.
    let asking =
      rules.isEmpty || rules.count < assignment.rules.count
      ? nil
      : try? domain.asking(rules, of: function, inputCount: count, argumentCount: assignment.argumentCount)
    let plain = (asking ?? function).rowCall.map {
      BatchUpdateFunction.Plain($0, inputCount: asking == nil ? count : assignment.argumentCount)
    }
    let body = domain.batchBody(
      function, inputCount: count, for: entity.property(attribute)?.attributeType)
    return HookFreeUpdate.Function(body, plain: plain, asksRules: asking != nil)
  }

  /// The text of an error, with its place in the script. The message with place and traceback for an error of Lua.
  public static func text(of error: any Error) -> String {
    guard let error = error as? LuaError else { return "\(error)" }
    return error.description
  }

  /// Whether an error ends the whole operation, and not only that for a single object: a limit, an interruption,
  /// `os.exit`, a busy or failing store.
  ///
  /// A command over many objects counts the failure of an object and continues; it stops at these errors.
  public static func endsAll(_ error: any Error) -> Bool {
    switch error {
    case let error as LuaError: return error.endsRun || error.underlying.map(endsAll) ?? false
    case let error as GraphError:
      if error.code.endsRun || [.storeBusy, .readOnlyStore].contains(error.code)
        || error.underlying.map(endsAll) ?? false
      {
        return true
      }
      // A store that cannot write a row names its object. A value that cannot be read concerns only its object.
      let isOfObject = error.objectID != nil && !(error.code == .storeFailure && error.property == nil)
      return !isOfObject && failuresOfStores.contains(error.code)
    case let error as any CodedError: return error.code.endsRun
    default: return false
    }
  }

  /// Whether an error concerns the script's text and would recur for every object, such as an unknown name. A command
  /// over many objects stops at the first of these errors.
  public static func isOfProgram(_ error: any Error) -> Bool {
    switch error {
    case let error as LuaError:
      if let underlying = error.underlying { return isOfProgram(underlying) }
      // A field may be nil in a single object. A nil global, and a missing function or module, recur for all objects.
      return error.message.contains("a nil value (global '")
        || error.message.contains(/attempt to call a nil value \((?:field|method) '\w/)
        || error.message.contains(/^an? [\w ]+ has no '/)
        || error.message.contains(/^module '[^']*' not found/)
    case let error as any CodedError:
      return [.unknownName, .invalidPredicate, .predicateMismatch].contains(error.code)
    default: return false
    }
  }

  /// Codes of errors that concern the store as a whole.
  private static let failuresOfStores: Set<ErrorCode> = [
    .storeFailure, .invalidStore, .incompatibleSchema, .cannotOpenFile,
  ]
}
