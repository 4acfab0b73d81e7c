import MoonbasePlatform
import MoonbaseTestSupport
import Testing

extension Workbench {
  /// A bench with `s.sqlite`: two departments and three people with values of many types, made by the command itself.
  static func withPeople() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return {
        entities = {
          Person = {
            attributes = {
              name = "string", age = "integer64", height = "double", salary = "decimal", born = "date", key = "binary",
              active = "boolean", code = "uuid", site = "uri",
            },
            relationships = {
              department = { to = "Department", inverse = "people" },
              friends = { to_many = "Person", inverse = "friends" },
            },
          },
          Boss = { parent = "Person", attributes = { title = "string" } },
          Department = { attributes = { name = "string" }, relationships = { people = { to_many = "Person", inverse = "department" } } },
        },
      }
      """, to: "m.lua")
    let code = """
      local c = moonbase.context
      local sales = c:insert("Department", { name = "Sales" })
      local ann = c:insert("Person", {
        name = "Ann, \\"A\\"", age = 9007199254740993, height = 1.5, salary = "12345678901234567.89", active = true,
        born = "2001-01-01T00:00:01.5Z", key = "\\1\\2", code = "00000000-0000-0000-0000-00000000000A",
        site = moonbase.uri("https://example.org/a"), department = sales,
      })
      assert(c:save())
      local bob = c:insert("Boss", { name = "", age = 30, height = 1 / 0, title = "Dr", department = sales })
      bob.friends:add(ann)
      assert(c:save())
      c:insert("Person", { age = 30 })
      assert(c:save())
      """
    let made = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  /// The bytes of all files, to check that a reading command changes none.
  func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try names() { contents[name] = try bytes(of: name) }
    return contents
  }
}
