import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `--profile` prints the cost of extension functions as a table on standard error.
@Suite struct ProfileTests {
  @Test func commandsThatRunExtensionsPrintATableAtTheEnd() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { A = { attributes = { x = 'integer64' } } } }", to: "m.lua")
    try bench.write(
      "return { entities = { A = { validate = { x = function(v) return v > 0 end },\n will_save = function() end } } }",
      to: "x.lua")
    let options = ["--store", "s.sqlite", "--model", "m.lua", "--extension", "x.lua"]
    let code =
      "for i = 1, 3 do moonbase.context:insert('A', { x = i }) end assert(moonbase.context:save()) print('done')"
    let run = try bench.moonbase(["run", "--profile"] + options + ["-e", code])
    #expect(run.status == 0 && run.output == "done\n")
    let told = run.complaints.split(separator: "\n").map(String.init)
    #expect(told.first == "moonbase: s.sqlite is a new store")
    let lines = told.dropFirst()
    #expect(lines.count == 4 && lines.first?.hasPrefix("function") == true, "\(run.complaints)")
    #expect(lines.contains { $0.hasPrefix("A.validate.x") && $0.contains(" 3 ") && $0.hasSuffix("x.lua") }, "\(lines)")
    let plain = try bench.moonbase(["run"] + options + ["-e", code])
    #expect(plain.complaints == "")
    let each = try bench.moonbase(["each", "A", "--profile", "--do", "object.x = object.x + 1"] + options)
    #expect(each.status == 0 && each.complaints.contains("A.will_save"), "\(each)")
  }
}
