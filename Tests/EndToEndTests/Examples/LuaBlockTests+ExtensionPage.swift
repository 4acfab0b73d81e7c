import MoonbasePlatform
import MoonbaseTestSupport
import Testing

extension LuaBlockTests {
  /// The model and the extension of `docs/extensions.md`, written where the page says.
  private static func writeLibrary(_ bench: LuaBlockBench) throws {
    let blocks = try DocumentBlock.documents("lua").filter { $0.place.hasPrefix("docs/extensions.md:") }.map(\.code)
    for (mark, name) in [("isbn = \"string\"", "library.model.lua"), ("name = \"library\"", "library.lua")] {
      try bench.bench.write(try #require(blocks.first { $0.contains(mark) }), to: name)
    }
  }

  private static func check(_ bench: LuaBlockBench, _ arguments: String...) throws -> String {
    let outcome = try bench.bench.moonbase(["check"] + arguments)
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output + outcome.complaints
  }

  static let extensionPage: [Example] = [
    Example("isbn = \"string\"", gives: "Book") { bench, _ in
      try writeLibrary(bench)
      return try bench.moonbase("model", "show", "library.model.lua")
    },
    Example("name = \"library\"", gives: "nothing is wrong") { bench, _ in
      try writeLibrary(bench)
      return try check(bench, "library.lua", "--model", "library.model.lua")
    },
    Example("local verne = context:insert", gives: "978014") { bench, code in
      try writeLibrary(bench)
      try bench.bench.write(code + "\ncontext:rollback()", to: "try.lua")
      let outcome = try bench.bench.moonbase(
        "run", "--store", "library.sqlite", "--model", "library.model.lua", "--extension", "library.lua", "try.lua")
      #expect(outcome.status == 0, "\(outcome)")
      // The page shows the output of each line.
      let shown = code.matches(of: #/(?m)^print.* -- (.*)$/#).map { $0.1.replacing("    ", with: "\t") }
      #expect(shown.count == 5 && outcome.output == shown.joined(separator: "\n") + "\n", "\(outcome.output)")
      return outcome.output
    },
    Example("is more than {limit}", gives: "is more than 2000 for Long") { bench, code in
      try writeLibrary(bench)
      try bench.bench.write("return { entities = { Book = { \(code) } } }", to: "warning.lua")
      try bench.bench.write(
        """
        local context = moonbase.context
        context:insert("Book", { title = "Long", pages = 3000 })
        assert(context:save())
        print(context.validation_warnings[1])
        """, to: "warn.lua")
      return try bench.moonbase(
        "run", "--store", "w.sqlite", "--model", "library.model.lua", "--extension", "warning.lua", "warn.lua")
    },
    Example("prices[i] * quantities[i]", gives: "7.5\n") { bench, code in
      try bench.bench.write(
        """
        return { entities = {
          Order = { attributes = { number = "integer64" }, relationships = { lines = { to_many = "Line", inverse = "order" } } },
          Line = { attributes = { quantity = "integer64", price = "decimal" },
            relationships = { order = { to = "Order", inverse = "lines" } } },
        } }
        """, to: "orders.model.lua")
      try bench.bench.write("return { entities = { Order = { derived = { \(code) } } } }", to: "orders.lua")
      try bench.bench.write(
        """
        local context = moonbase.context
        local order = context:insert("Order", { number = 1 })
        context:insert("Line", { quantity = 2, price = moonbase.decimal("1.5"), order = order })
        context:insert("Line", { quantity = 3, price = moonbase.decimal("1.5"), order = order })
        assert(context:save())
        print(order.total)
        """, to: "orders.script.lua")
      return try bench.moonbase(
        "run", "--store", "o.sqlite", "--model", "orders.model.lua", "--extension", "orders.lua", "orders.script.lua")
    },
    Example("Points = {", gives: "nothing is wrong") { bench, code in
      try writeLibrary(bench)
      try bench.bench.write(code, to: "points.lua")
      return try check(bench, "points.lua", "--model", "library.model.lua")
    },
  ]
}
