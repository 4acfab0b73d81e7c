import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// Runs the examples that transformers declare, in both directions.
///
/// An example is `{ value, bytes }`: `transform(value)` must give the bytes, `reverse(bytes)` the value. Compared
/// deeply by the same rules as the tests of scripts (`SameValues`). The value has to be of the transformer's class, by
/// the function `is` of the class or by its metatable.
struct TransformerExamples {
  /// The domain in which the extensions ran.
  let domain: ScriptDomain
  /// Deep comparison of two values in Lua.
  private let same: LuaFunction

  /// Loads the comparison into the domain's state.
  init(in domain: ScriptDomain) throws {
    self.domain = domain
    let chunk = try domain.state.load(Self.comparison, name: "examples", in: domain.state.environment([:]))
    guard let same = try chunk.call([]).first?.functionValue else {
      throw ScriptError(.invalidExtension, message: "examples cannot be compared")
    }
    self.same = same
  }

  /// Checks the examples of all transformers and collects those that fail. An example that raises an error fails.
  /// Errors that end the run are rethrown.
  func check(_ declarations: [ExtensionDeclaration], _ mistakes: ExtensionMistakes) throws {
    for declaration in declarations {
      for transformer in declaration.transformers {
        for (index, example) in transformer.examples.enumerated() {
          guard let problem = try problem(of: example, in: transformer) ?? classProblem(of: example, in: transformer)
          else { continue }
          let path = ["transformers", transformer.name, "examples", "\(index + 1)"]
          mistakes.add(
            ScriptError(
              .invalidExtension, message: "example \(index + 1) of transformer \(transformer.name): \(problem)",
              at: declaration.source.location(of: path)))
        }
      }
    }
  }

  /// The first difference in either direction; nil for an example that holds. A transformer without `reverse` is
  /// checked in one direction.
  private func problem(
    of example: ExtensionDeclaration.Example, in transformer: ExtensionDeclaration.Transformer
  ) throws -> String? {
    let forward = try problem("transform", transformer.transform, of: example.value, wanting: example.stored)
    guard forward == nil, let reverse = transformer.reverse else { return forward }
    return try problem("reverse", reverse, of: example.stored, wanting: example.value)
  }

  /// The reason why the value is not of the transformer's class; nil if it is, and for a class of Swift.
  private func classProblem(
    of example: ExtensionDeclaration.Example, in transformer: ExtensionDeclaration.Transformer
  ) throws -> String? {
    guard let name = transformer.className, case .table(let table) = example.value else { return nil }
    do {
      guard try domain.contains(table, inClass: name) == false else { return nil }
      return "its value is not of class \(name), the class of the transformer"
    } catch let error as LuaError where !error.endsRun {
      return "is of class \(name) raised an error: \(error)"
    } catch let error as ScriptError where !error.code.endsRun {
      return error.message
    }
  }

  /// The difference between a function's result and the expected value.
  private func problem(
    _ name: String, _ function: LuaFunction, of input: LuaValue, wanting wanted: LuaValue
  ) throws -> String? {
    let result: LuaValue
    do {
      result = try function.call([input]).first ?? .nil
    } catch {
      if error.endsRun { throw error }
      return "\(name) raised an error: \(error)"
    }
    if try same.call([result, wanted]).first?.isTrue == true { return nil }
    return "\(name) gave \(try shown(result)), and the example says \(try shown(wanted))"
  }

  /// The beginning of a value, for messages. Bytes that are not text are shown as numbers.
  private func shown(_ value: LuaValue) throws -> String {
    guard let string = value.stringValue else {
      guard case .table(let table) = value else { return value.isPresent ? "\(value)".beginning(of: 120) : "nil" }
      return try "\(domain.state.tree(of: .table(copy(of: table))))".beginning(of: 200)
    }
    let count = string.bytes.count
    if let text = string.text, !text.unicodeScalars.contains(where: { $0.value < 32 }) {
      return "\"\(text.beginning(of: 80))\""
    }
    let digits = string.bytes.prefix(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return "\(count) bytes, \(digits.joined(separator: " "))\(count > 16 ? " ..." : "")"
  }

  /// A copy without metatable and functions, for display.
  private func copy(of table: LuaTable) throws -> LuaTable {
    let copy = try domain.state.table()
    for (key, value) in try table.pairs {
      if case .function = value { continue }
      try copy.set(key, to: value)
    }
    return copy
  }

  /// The text of the comparison, as a chunk that returns it.
  private static let comparison = SameValues.definition + "\nreturn same"
}

extension String {
  /// The first characters, truncated with dots.
  fileprivate func beginning(of count: Int) -> String {
    utf8.count > count ? String(prefix(count)) + "..." : self
  }
}
