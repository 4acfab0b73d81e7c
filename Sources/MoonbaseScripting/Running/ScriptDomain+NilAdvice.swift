import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension ScriptDomain {
  /// A guess at the meaning of a nil name: a module, an entity, a class, a method of requests called on a list, or a
  /// property without a value. `message` is Lua's. Nil for messages of another form, and where no guess is likely.
  func advice(forNil message: String) -> String? {
    guard let match = message.firstMatch(of: /a nil value \((global|field|method) '(\w+)'\)/) else { return nil }
    let name = String(match.2)
    return switch match.1 {
    case "global": adviceForGlobal(name)
    case "field": adviceForField(name)
    default: adviceForMethod(name)
    }
  }

  /// The guess for a global variable.
  private func adviceForGlobal(_ name: String) -> String? {
    if LuaFiles.modules.contains("moonbase.\(name)") {
      return "\(name) is a module: write local \(name) = require(\"moonbase.\(name)\")"
    }
    if model?.entity(name) != nil {
      return
        "\(name) is an entity: context:fetch(\"\(name)\") asks for its objects, context:insert(\"\(name)\") makes one"
    }
    if nearestName(to: name, among: ["context"]) != nil || name == "context" {
      return "the context is moonbase.context: write local context = moonbase.context"
    }
    return nearestName(to: name, among: ["moonbase"]).map { "did you mean \($0)?" }
  }

  /// The guess for a field.
  private func adviceForField(_ name: String) -> String? {
    if let near = nearestName(to: name, among: currentClasses.map(\.name)) {
      return "moonbase.classes has no \(name); did you mean \(near)?"
    }
    guard model?.entities.contains(where: { $0.property(name) != nil }) == true else { return nil }
    return "a property without a value is nil: look first, as in if object.\(name) then"
  }

  /// The guess for a method.
  private func adviceForMethod(_ name: String) -> String? {
    guard types.request.names.contains(name), name != "all" else { return nil }
    return "\(name) is a method of requests: all() and first() give a list and an object, which have it not; "
      + (name == "count" ? "write #list, or request:count()" : "write it before them")
  }
}
