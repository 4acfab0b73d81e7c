import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// A fetch request template of the model. The command line gives the values of its variables as texts.
///
/// `moonbase fetch --template NAME` creates one. A template comes from the model file and contains
/// variables such as `$NAME`. The class of a value is not given on the command line, so each text
/// is parsed as the type of the attribute beside the variable.
///
/// For example, the template `age > $AGE` with the parameter `AGE=30` becomes the predicate `age >
/// 30`.
struct TemplateRequest {
  /// The name of the template, for messages.
  private let name: String
  /// The request of the model with variables in its predicate.
  private let template: FetchRequest
  /// The context whose model contains the template.
  private let context: ManagedObjectContext
  /// The variables in the order of the predicate, with the attributes that they are compared with.
  private var variables: [(name: String, attribute: AttributeDescription?)] = []

  /// Throws if the model does not have the template, or if the template is for another entity.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - entity: The entity that the command line names. The entity of the template must be the same.
  ///   - context: The context that later runs the request.
  /// - Throws: `.unknownName` if the model has no such template, with a suggestion. A `UsageError`
  ///   if the template fetches objects of another entity.
  init(_ name: String, of entity: String, in context: ManagedObjectContext) throws {
    let templates = context.model.description.fetchRequestTemplates
    guard let template = templates[name] else {
      let names = templates.keys.sorted()
      throw GraphError(
        .unknownName,
        message: "the model has no fetch request template \(name)\(suggestion(for: name, among: names)): "
          + (names.isEmpty ? "it has none" : "it has \(names.listed())"))
    }
    guard template.entityName == entity else {
      if context.model.entity(entity) == nil { throw GraphError.unknownEntity(entity, in: context.model) }
      throw UsageError("the template \(name) is of \(template.entityName), not of \(entity): name that entity")
    }
    (self.name, self.template, self.context) = (name, template, context)
    if let predicate = template.predicate { addVariables(of: predicate) }
  }

  /// The request with values from parameters such as `NAME=VALUE`.
  ///
  /// Only the first equals sign separates the name from the value, so that a value may contain
  /// equals signs.
  ///
  /// - Parameter parameters: The texts of the command line, one for each variable of the template.
  /// - Returns: The request without variables.
  /// - Throws: A `UsageError` for an unknown, repeated or missing variable, and the error of the
  ///   parser for a value that does not fit the attribute's type.
  func request(_ parameters: [String]) throws -> FetchRequest {
    let pairs = parameters.map {
      $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    let names = pairs.map { $0[0] }
    try check(names)
    var request = template
    let texts = ParameterTexts(pairs.map { $0[1] }, entity: template.entityName, in: context)
    request.predicate = try request.predicate.map { try texts.substituting(names, in: $0).substituting([:]) }
    request.havingPredicate = try request.havingPredicate?.substituting([:])
    request.resultType = .objects
    do { return try request.checked(in: context.model) } catch {
      guard error.code == .predicateMismatch else { throw error }
      throw ModelError(
        error.code, message: "the template \(name): \(error.message); \(wanted)", entity: request.entityName)
    }
  }

  /// Throws if a name is not a variable or is given twice, or if a variable has no value.
  ///
  /// - Parameter names: The names before the equals signs.
  private func check(_ names: [String]) throws {
    let known = variables.map(\.name)
    if let unknown = names.first(where: { !known.contains($0) }) {
      throw UsageError(
        "the template \(name) has no variable \(unknown)\(suggestion(for: unknown, among: known)): \(wanted)")
    }
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw UsageError("--param gives \(twice) twice: leave one out")
    }
    let missing = known.filter { !names.contains($0) }
    guard missing.isEmpty else {
      let options = missing.map { "--param \($0)=VALUE" }.joined(separator: " ")
      throw UsageError("the template \(name) has no value for \(missing.listed()): add \(options); \(wanted)")
    }
  }

  /// A description of the variables for messages, such as `it takes AGE (integer16) and NAME (string)`.
  private var wanted: String {
    guard !variables.isEmpty else { return "it has none" }
    let all = variables.map { variable in
      variable.attribute.map { "\(variable.name) (\($0.type.modelName))" } ?? variable.name
    }
    return "it takes \(all.listed())"
  }

  // MARK: Variables

  /// Collects the variables of a predicate from left to right. Compound predicates are searched
  /// recursively.
  private mutating func addVariables(of predicate: Predicate) {
    switch predicate {
    case .constant: return
    case .and(let parts), .or(let parts): for part in parts { addVariables(of: part) }
    case .not(let inner): addVariables(of: inner)
    case .comparison(let comparison):
      addVariables(of: comparison.left, beside: comparison.right)
      addVariables(of: comparison.right, beside: comparison.left)
    }
  }

  /// Collects the variables of one side of a comparison. The attribute at the opposite side gives
  /// the type of the value.
  ///
  /// - Parameters:
  ///   - side: The expression that may contain variables.
  private mutating func addVariables(of side: Expression, beside other: Expression) {
    let attribute = ParameterTexts([], entity: template.entityName, in: context).attribute(other)
    var found: [String] = []
    _ = side.replacing { part in
      if case .variable(let name) = part { found.append(name) }
      return nil
    }
    for name in found where !variables.contains(where: { $0.name == name }) { variables.append((name, attribute)) }
  }
}
