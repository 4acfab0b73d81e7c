import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Advice for authors of scripts about missing names and mistakes.
@Suite struct ExtensionAdviceTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      "return { entities = { P = { attributes = { n = 'integer64', s = 'string', l = 'transformable' } } } }",
      to: "m.lua")
  }

  private func run(_ code: String, _ more: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["run", "--store", "s.sqlite", "--model", "m.lua"] + more + ["-e", code])
  }

  /// No sandbox gives extensions access to files.
  @Test(arguments: [
    ("local f = io.open('x') return {}", "extensions have no io,"),
    ("os.remove('x') return {}", "extensions have no os.remove,"),
    (
      "return { entities = { P = { validate = { n = function() os.remove('x') return true end } } } }",
      "extensions have no os.remove,"
    ),
    (
      "return { entities = { P = { will_save = function() moonbase.open{} end } } }",
      "extensions have no moonbase.open,"
    ),
    ("return { entities = { P = { will_save = function() io.write('x') end } } }", "extensions have no io,"),
    ("moonbase.context:save() return {}", "object:context() is its context"),
    ("moonbase.background('x') return {}", "extensions have no moonbase.background"),
    ("local f = open('x') return {}", "the program grants files by name"),
  ]) func anExtensionThatAsksForFilesIsToldThatItHasNone(_ source: String, _ words: String) throws {
    try bench.write(source, to: "e.lua")
    let outcome = try run(
      "moonbase.context:insert('P', { n = 1 }) assert(moonbase.context:save())", "--extension", "e.lua")
    #expect(outcome.status == 1 && outcome.complaints.contains(words), "\(outcome)")
    #expect(!outcome.complaints.contains("--sandbox trusted has all of Lua"), "\(outcome)")
  }

  @Test func thePatternsOfSQLAreToldOnce() throws {
    let outcome = try run(
      """
      for i = 1, 3 do moonbase.context:fetch("P"):where("s LIKE 'A%'"):all() end
      moonbase.context:fetch("P"):where("s LIKE 'A%*'"):all()
      """)
    #expect(outcome.status == 0)
    #expect(
      outcome.complaintsBesideNewStores == "-e:1: LIKE 'A%': the wildcards are * and ?, and % stands for itself\n",
      "\(outcome)")
  }

  @Test func filesThatAreNoStoresAreToldWhatTakesThem() throws {
    try bench.connection(to: "plain.db").executeScript("CREATE TABLE t (a)")
    for arguments in [["info", "plain.db"], ["fetch", "P", "plain.db"], ["doctor", "plain.db"]] {
      let outcome = try bench.moonbase(arguments)
      #expect(
        outcome.status == 1
          && outcome.complaints.contains("plain.db --infer --store new.sqlite makes a store of its tables"),
        "\(outcome)")
    }
    let missing = try bench.moonbase("run", "--store", "y.sqlite", "-e", "print(1)")
    #expect(
      missing.complaints.contains("name one (--model FILE, in Lua model = FILE), or have import --infer guess one"),
      "\(missing)")
    try bench.write("local n = 1", to: "each.lua")
    _ = try run("moonbase.context:insert('P') assert(moonbase.context:save())")
    let each = try bench.moonbase("each", "P", "--store", "s.sqlite", "--script", "each.lua")
    #expect(
      each.status == 1 && each.complaints.contains("a file of --script returns function(object, context)"), "\(each)")
  }

  @Test(arguments: [
    ("moonbase.context:fetch('P'):sort('n', 'desc')", "write \"-n\" for the order"),
    ("moonbase.context:fetch('P'):sort('-s', 'n', 'ASC')", "write \"n\" for the order"),
    ("moonbase.context:insert('P', { l = { 1, nil, 3 } })", "P.l: a list has a hole: write moonbase.null"),
    ("moonbase.context:insert('P', { l = { 1, a = 3 } })", "it is neither a list nor a map"),
    (
      "moonbase.context:fetch('P'):batch_update{ s = 'Zed' }",
      "P.s: the batch update sets it: P has no property Zed; a text is an expression here: write \"'Zed'\""
    ),
    ("error({ 'is late' })", "error takes a text, or a table of message and code"),
    (
      "moonbase.context:fetch('P'):where('s = NO'):all()",
      "FALSE is a boolean; a text is written in quotes, as 'NO' or 'TRUE'"
    ),
    ("print(io.open('/etc/hostname'))", "(--allow read=/etc/hostname grants it)"),
    ("print(io.open('/etc/hostname', 'w'))", "(--allow write=/etc/hostname grants it)"),
  ]) func whatIsMeantIsSaid(_ code: String, _ words: String) throws {
    let outcome = try run(code)
    #expect((outcome.output + outcome.complaints).contains(words), "\(outcome)")
  }

  @Test(arguments: [("transform", "insert('P', { t = 'x' })"), ("reverse", "insert('P', { t = 'x' })")])
  func whatATransformerRefusesIsSaid(_ function: String, _ code: String) throws {
    try bench.write(
      "return { entities = { P = { attributes = { t = { 'transformable', transformer = 'T' } } } } }", to: "m.lua")
    let other = function == "transform" ? "reverse" : "transform"
    try bench.write(
      """
      return { transformers = { T = { \(other) = function(x) return x end,
        \(function) = function(x) return nil, "it is too late" end } } }
      """, to: "e.lua")
    let outcome = try run(
      "local c = moonbase.context local p = c:\(code) assert(c:save()) c:reset() print(c:fetch('P'):first().t)",
      "--extension", "e.lua")
    #expect(outcome.status == 1, "\(outcome)")
    #expect(
      outcome.complaints.contains("\(function) of transformer T gave nothing: it is too late"), "\(outcome)")
  }

  @Test func theEntityComesFirst() throws {
    for command in [["fetch"], ["each", "--do", "x = 1"]] {
      let outcome = try bench.moonbase(command + ["s.sqlite", "P"])
      #expect(outcome.status == 2 && outcome.complaints.contains("moonbase \(command[0]) P s.sqlite"), "\(outcome)")
    }
    try bench.write("5,7\n8,9\n", to: "p.csv")
    let outcome = try bench.moonbase("import", "P", "p.csv", "--store", "s.sqlite", "--model", "m.lua")
    #expect(outcome.status == 1 && outcome.complaints.contains("--no-header"), "\(outcome)")
  }

  /// A store copied without the log that holds all its data.
  @Test func aStoreWithoutItsMetadataIsToldOf() throws {
    _ = try run("moonbase.context:insert('P') assert(moonbase.context:save())")
    try bench.execute("UPDATE Z_METADATA SET Z_PLIST = NULL", in: "s.sqlite")
    for arguments in [
      ["info", "s.sqlite"], ["fetch", "P", "s.sqlite"], ["import", "s.sqlite", "--infer", "--dry-run"],
    ] {
      let outcome = try bench.moonbase(arguments)
      #expect(
        outcome.status == 1 && outcome.complaints.contains("no property list (Z_PLIST), and so no model")
          && outcome.complaints.contains("s.sqlite-wal too"), "\(outcome)")
    }
  }
}
