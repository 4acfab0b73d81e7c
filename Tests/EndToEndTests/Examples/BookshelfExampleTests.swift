import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Builds and runs the package in `Examples/`, and changes its model between two builds.
@Suite(.enabled(if: TestLength.isLong), .serialized) struct BookshelfExampleTests {
  private let bench: Workbench
  /// The build products of all tests, which the next run reuses.
  private static let scratch = Workbench.checkout.appendingPathComponent(".build/examples").path

  /// A copy of the package, which depends on the checkout.
  init() throws {
    bench = try Workbench()
    // The folder's name is part of the paths of a plugin's products.
    try FileManager.default.createDirectory(at: bench.file("Examples"), withIntermediateDirectories: true)
    for name in ["Package.swift", "Sources", "Extensions"] {
      try FileManager.default.copyItem(
        at: Workbench.checkout.appendingPathComponent("Examples/\(name)"), to: bench.file("Examples/\(name)"))
    }
    let manifest = try text("Examples/Package.swift").replacingOccurrences(
      of: "path: \"..\"", with: "path: \"\(Workbench.checkout.path)\"")
    try bench.write(manifest, to: "Examples/Package.swift")
  }

  private func text(_ name: String) throws -> String { try String(decoding: bench.bytes(of: name), as: UTF8.self) }

  private func change(_ name: String, _ old: String, _ new: String) throws {
    let text = try text(name)
    try #require(text.contains(old))
    try bench.write(text.replacingOccurrences(of: old, with: new), to: name)
  }

  /// Half an hour is enough for a first build.
  private func build() throws -> Workbench.Outcome {
    try bench.program("timeout", "1800", "swift", "build", "--package-path", "Examples", "--scratch-path", Self.scratch)
  }

  private func service() throws -> (process: ChildProcess, port: UInt16) {
    let program = URL(fileURLWithPath: "\(Self.scratch)/debug/Bookshelf")
    let process = try ChildProcess(program, ["shelf.sqlite", "Examples/Extensions", "0"], in: bench.folder)
    try process.wait(for: "listening on http://127.0.0.1:")
    let line = try #require(process.output.firstMatch(of: /127\.0\.0\.1:(?<port>\d+)/))
    return (process, try #require(UInt16(line.output.port)))
  }

  private func ask(_ line: String, _ body: String = "", of port: UInt16) throws -> HTTPAnswer {
    let head =
      "\(line) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    return try HTTPAnswer(to: head + body, port: port)
  }

  @Test func theServiceKeepsBooksReloadsRulesImportsAndEnds() throws {
    let built = try build()
    try #require(built.status == 0, "\(built.output.suffix(4000))")
    let (process, port) = try service()
    let dune = try ask(
      "POST /books", #"{"title":"Dune","author":"Herbert","pages":600,"status":"reading"}"#, of: port)
    #expect(dune.status == 201 && dune.text.contains(#""label":"Dune (Herbert)""#), "\(dune)")
    let long = #"{"title":"Long","pages":6000}"#
    let refused = try ask("POST /books", long, of: port)
    #expect(refused.status == 422 && refused.text.contains("Pages must be 5000 at most"), "\(refused)")
    #expect(try ask("GET /books?status=reading", of: port).text.contains("Dune"))
    #expect(try ask("GET /books?status=odd", of: port).status == 400)

    try change("Examples/Extensions/books.lua", "longest = 5000", "longest = 9000")
    try process.wait(for: "reloaded books")
    #expect(try ask("POST /books", long, of: port).status == 201)

    let many = (0..<1200).map { #"{"title":"Book \#($0)","author":"Author \#($0 % 10)"}"# }
    #expect(try ask("POST /import", "[\(many.joined(separator: ","))]", of: port).status == 202)
    try process.wait(for: "imported 1200 books")
    #expect(try ask("GET /books?status=wanted", of: port).text.components(separatedBy: "\"title\"").count == 1202)

    process.interrupt()
    #expect(try process.end() == 0 && process.output.hasSuffix("closed\n"))
  }

  @Test func aChangedModelIsBuiltAnewAndAMistakeHasItsLine() throws {
    // The second build reuses the products made in another folder.
    for _ in 0..<2 { try #require(try build().status == 0) }
    let classes =
      "\(Self.scratch)/plugins/outputs/examples/Bookshelf/destination/MoonbaseModelPlugin/Bookshelf+MoonbaseModel.swift"
    func made() throws -> Date? {
      try FileManager.default.attributesOfItem(atPath: classes)[.modificationDate] as? Date
    }
    let first = try made()
    #expect(try build().status == 0)
    #expect(try made() == first)

    let model = "Examples/Sources/Bookshelf/Bookshelf.model.lua"
    try change(model, "label = { \"string\", transient = true },", "label = { \"strin\", transient = true },")
    let refused = try build()
    let line = try text(model).components(separatedBy: "\n").firstIndex { $0.contains("strin\"") }.map { $0 + 1 }
    #expect(refused.status != 0)
    #expect(
      (refused.output + refused.complaints).contains(
        "\(model):\(line ?? 0): error: entity Book, attribute label: there is no type strin"), "\(refused.output)")

    try change(model, "label = { \"strin\",", "rating = \"integer16\",\n        label = { \"string\",")
    try bench.write(
      "import Moonbase\nextension Book { var stars: Int16? { rating } }\n", to: "Examples/Sources/Bookshelf/Stars.swift"
    )
    let again = try build()
    #expect(again.status == 0, "\(again.output.suffix(4000))")
    #expect(try made() != first)
  }
}
