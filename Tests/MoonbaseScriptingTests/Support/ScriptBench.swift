import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Runs scripts over a model and an extension, both in Lua, and an empty store.
final class ScriptBench {
  static let model = """
    return {
      entities = {
        Person = {
          attributes = {
            firstName = "string", lastName = "string", email = "string",
            age = { "integer16", optional = false, default = 0, min = 0, max = 150 },
            born = "date", height = "double", salary = "decimal", badge = "uuid", page = "uri", active = "boolean",
            photo = "binary",
            favoriteColor = { "transformable", transformer = "ColorTransformer", class = "Color" },
            bounds = { "undefined", transient = true }, boundsAsString = "string",
          },
          relationships = {
            department = { to = "Department", inverse = "employees" },
            friends = { to_many = "Person", inverse = "friends" },
          },
        },
        Employee = { parent = "Person", attributes = { title = "string" } },
        Department = {
          attributes = { name = "string" },
          relationships = { employees = { to_many = "Person", inverse = "department" } },
        },
      },
      fetch_requests = { olderThan = { "Person", "age > $AGE" } },
    }
    """

  static let colors = """
    local Color = {}
    Color.__index = Color
    function Color.new(r, g, b, a) return setmetatable({ r = r, g = g, b = b, a = a or 1.0 }, Color) end
    function Color.__eq(x, y) return x.r == y.r and x.g == y.g and x.b == y.b and x.a == y.a end
    return {
      name = "colors",
      classes = { Color = Color },
      transformers = {
        ColorTransformer = {
          class = "Color",
          transform = function(c) return string.pack("<dddd", c.r, c.g, c.b, c.a) end,
          reverse = function(bytes) return Color.new(string.unpack("<dddd", bytes)) end,
        },
      },
      entities = {
        Person = {
          normalize = { email = function(value) return value:lower() end },
          validate = { age = function(value, object) return value ~= 13, "is unlucky" end },
          derived = {
            fullName = { type = "string", inputs = { "firstName", "lastName" }, pure = true, strict = true,
                         get = function(first, last) return first .. " " .. last end },
            place = { type = "string", inputs = { "department.name" }, get = function(name) return name or "nowhere" end },
            bounds = { inputs = { "boundsAsString" },
                       get = function(text) return text and { tonumber(text) } end,
                       set = function(value, object) object.boundsAsString = value and tostring(value[1]) end },
          },
        },
      },
    }
    """

  let extensions: ScriptExtensions
  let coordinator: PersistentStoreCoordinator
  private(set) var output = ""
  private let folder: TemporaryFolder

  init(
    _ kind: StoreKind = .memory, model: String = model, extensions: [String] = [colors],
    files: [URL] = [], wrap: (any PersistentStore) -> any PersistentStore = { $0 },
    limits: LuaLimits = LuaLimits()
  ) throws {
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: model))
    let texts = extensions.enumerated().map { ExtensionSource.text($1, name: "extension\($0 + 1).lua") }
    let sources = texts + files.map { ExtensionSource.file($0) }
    self.extensions = try ScriptExtensions(sources, for: model, limits: limits)
    coordinator = PersistentStoreCoordinator(model: self.extensions.resolvedModel)
    folder = try TemporaryFolder()
    try coordinator.add(wrap(kind.store(for: self.extensions.resolvedModel, in: folder)))
  }

  /// Runs a script with a context of its own; the output is in `output`.
  @discardableResult
  func run(
    _ text: String, limits: LuaLimits = LuaLimits(), arguments: [String] = [], opener: ContainerOpener? = nil
  ) throws -> ScriptRunner.Outcome {
    let domain = try ScriptDomain(limits: limits)
    defer { domain.close() }
    if let opener { try domain.installOpen(opener) }
    output = ""
    domain.state.output = LuaOutput { [unowned self] bytes, _ in output += String(decoding: bytes, as: UTF8.self) }
    domain.state.modules.rootPaths = [ScriptModuleTests.folder.path]
    let context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
    try domain.setContext(context)
    return ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: text)], arguments: arguments)
  }

  /// Runs a script that must succeed, and returns its output line by line.
  func lines(_ text: String, leavingChanges: Bool = false, opener: ContainerOpener? = nil) throws -> [String] {
    let outcome = try run("local context = moonbase.context\n" + text, opener: opener)
    let isFine = outcome.message == nil || leavingChanges && outcome.message?.contains("not saved: call") == true
    #expect(outcome.status == 0 && isFine, "\(outcome)")
    return output.split(separator: "\n").map(String.init)
  }
}
