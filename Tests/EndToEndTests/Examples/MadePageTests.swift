import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Pages that are made of the code are as the code says.
@Suite struct MadePageTests {
  /// Where a page differs, `.build/pages` has the text that is right.
  private func compare(_ text: String, with path: String, _ kept: String) throws {
    guard kept != text else { return }
    let folder = Workbench.checkout.appendingPathComponent(".build/pages")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let name = path.split(separator: "/").last ?? ""
    try Data(text.utf8).write(to: folder.appendingPathComponent(String(name)))
    Issue.record("\(path) differs from .build/pages/\(name), which the code says")
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Workbench.checkout.appendingPathComponent(path), encoding: .utf8)
  }

  /// The examples of the page run, and print what they say.
  @Test func theReferenceOfTheScriptAPIIsMadeOfTheTypes() throws {
    let bench = try Workbench()
    let folder = Workbench.checkout.appendingPathComponent("scripts/api")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try bench.write(try text("scripts/api/\(name)"), to: name)
    }
    let types = Workbench.checkout.appendingPathComponent("lua/types").path
    let page = try bench.moonbase(
      "run", "--quiet", "--store", "people.sqlite", "--model", "model.lua", "--keep-history", "--allow",
      "read=\(types)", "page.lua", types)
    #expect(page.status == 0, "\(page.complaints)")
    try compare(page.output, with: "docs/script-api.md", try text("docs/script-api.md"))
  }

  @Test func anExampleThatPrintsSomethingElseIsFound() throws {
    let bench = try Workbench()
    for name in ["model", "page"] { try bench.write(try text("scripts/api/\(name).lua"), to: "\(name).lua") }
    try FileManager.default.createDirectory(at: bench.file("types"), withIntermediateDirectories: true)
    let folder = Workbench.checkout.appendingPathComponent("lua/types")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let types = try text("lua/types/\(name)")
      try bench.write(types.replacing("--> Carla 40", with: "--> Carla 41"), to: "types/\(name)")
    }
    let page = try bench.moonbase(
      "run", "--quiet", "--store", "people.sqlite", "--model", "model.lua", "--keep-history", "page.lua", "types")
    #expect(page.status == 1 && page.complaints.contains("Context.insert prints\nCarla 40\nand says\nCarla 41"))
  }

  /// The picture of the README shows what a run prints.
  @Test func thePictureIsOfARun() throws {
    let bench = try Workbench()
    let script = Workbench.checkout.appendingPathComponent("scripts/picture").path
    let run = try bench.program(script, Workbench.command.path, bench.file("reload.svg").path)
    #expect(run.status == 0, "\(run)")
    let picture = String(decoding: try bench.bytes(of: "reload.svg"), as: UTF8.self)
    try compare(picture, with: "docs/reload.svg", try text("docs/reload.svg"))
  }

  /// A hook without a place in the picture would be a riddle to its author.
  @Test func thePictureOfHooksHasEachHook() throws {
    let types = try text("lua/types/extension.lua")
    let hooks = types.matches(of: #/(?m)^---@field (\w+)\? moonbase\.(Hook|SnapshotHook|ObjectRule)/#).map(\.1)
    let picture = try text("docs/hooks.svg")
    #expect(hooks.count > 8)
    for hook in hooks { #expect(picture.contains(">\(hook)<"), "docs/hooks.svg does not show \(hook)") }
  }

  // MARK: The sandbox

  private static let scopes = ["pure", "standard", "compat", "trusted", "extensions"]
  private static let libraries = [
    "globals", "string", "table", "math", "utf8", "coroutine", "os", "io", "debug", "package", "moonbase",
  ]

  /// Prints what a script or an extension finds, a library and a name in each line.
  private static let listing = """
    local function note(library, name) print(library .. " " .. name) end
    for library, value in pairs(_G) do
      if type(value) ~= "table" then
        note("globals", library)
      elseif library ~= "_G" and library ~= "moonbase" and library ~= "arg" then
        for name in pairs(value) do
          if type(name) == "string" then note(library, name) end
        end
      end
    end
    for _, name in ipairs { "background", "copy", "extensions", "open", "parallel", "progress", "reload" } do
      local is_there, value = pcall(function() return moonbase[name] end)
      if is_there and value ~= nil then note("moonbase", name) end
    end
    if moonbase.date.now then note("moonbase", "date.now") end
    if not arg then return { name = "listing" } end
    """

  /// The names of each scope.
  private func names() throws -> [String: Set<String>] {
    let bench = try Workbench()
    try bench.write(Self.listing, to: "listing.lua")
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "model.lua")
    var found: [String: Set<String>] = [:]
    for scope in Self.scopes {
      let arguments =
        scope == "extensions"
        ? ["run", "--model", "model.lua", "--extension", "listing.lua", "-e", ""]
        : ["run", "--sandbox", scope, "listing.lua"]
      let outcome = try bench.moonbase(arguments)
      #expect(outcome.status == 0, "\(outcome)")
      found[scope] = Set(outcome.output.split(separator: "\n").map(String.init))
    }
    return found
  }

  @Test func thePageOfTheSandboxListsWhatEachPresetHas() throws {
    let names = try names()
    var lines = ["| library | names | \(Self.scopes.joined(separator: " | ")) |", "|---|---|---|---|---|---|---|"]
    for library in Self.libraries {
      let all = Set(names.values.joined()).filter { $0.hasPrefix("\(library) ") }
      #expect(!all.isEmpty, "\(library)")
      let groups = Dictionary(grouping: all) { name in Self.scopes.map { names[$0]?.contains(name) == true } }
      for (marks, members) in groups.sorted(by: { Self.order($0.key) < Self.order($1.key) }) {
        let list = members.map { "`\($0.dropFirst(library.count + 1))`" }.sorted().joined(separator: ", ")
        lines.append("| `\(library)` | \(list) | \(marks.map { $0 ? "✓" : " " }.joined(separator: " | ")) |")
      }
    }
    let page = try text("docs/sandbox.md")
    let table = try #require(page.firstMatch(of: #/(?m)^\| library [\s\S]*?\n(?=\n)/#))
    let right = page.replacing(String(table.output), with: lines.joined(separator: "\n") + "\n")
    try compare(right, with: "docs/sandbox.md", page)
  }

  /// What every scope has comes first.
  private static func order(_ marks: [Bool]) -> Int { marks.reduce(0) { $0 * 2 + ($1 ? 0 : 1) } }
}
