import MoonbaseTestSupport
import Testing

extension Workbench {
  /// The model of the tests' projects; the extension has a rule, a stored derived attribute and a transient one.
  static let projectModel = """
    return { entities = { Person = { attributes = {
      name = { "string", optional = false }, age = { "integer16", default = 0 }, initial = "string" } } } }
    """
  static let projectRules = """
    return { name = "rules", version = "1.2", entities = { Person = {
      validate = { age = function(age) return age >= 0, "is negative" end },
      derived = { initial = { inputs = { "name" }, stored = true, get = function(name) return name and name:sub(1, 1) end } },
    } } }
    """

  /// A bench with a project: `moonbase.project.lua`, `model.lua`, `rules.lua` and a folder `sub`.
  static func withProject(_ project: String? = nil) throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      project ?? #"return { store = "s.sqlite", model = "model.lua", extensions = { "rules.lua" } } -- plain data"#,
      to: "moonbase.project.lua")
    try bench.write(projectModel, to: "model.lua")
    try bench.write(projectRules, to: "rules.lua")
    return bench
  }

  /// Inserts people with the command and the project's settings.
  func insertPeople(_ names: String...) throws {
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let made = try moonbase(
      "run", "-e",
      "for _, name in ipairs { \(list) } do moonbase.context:insert('Person', { name = name }) end assert(moonbase.context:save())"
    )
    try #require(made.status == 0, "\(made)")
  }
}
