import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The public declarations of the built modules, as `docs/surface` lists them: a file for each product.
struct PublicSurface {
  /// The lists by product.
  let texts: [String: String]

  init() throws {
    let exports = try Exports()
    var app = try exports.modules.sorted().map { "# \($0)\n\n" + (try Module($0).text { _ in true }) }
    let parts = try Exports.listed.map { (name: $0, module: try Module($0)) }
    let hidden = parts.reduce(into: Set()) { $0.formUnion($1.module.types) }.subtracting(exports.names)
    app += parts.map { "# \($0.name)\n\n" + $0.module.text { !hidden.contains($0) } }
    app.append("# Moonbase\n\n" + (try Module("Moonbase").text { _ in true }))
    texts = [
      "Moonbase": app.joined(separator: "\n"),
      "MoonbaseStoreKit": parts.map { (name: $0.name, text: $0.module.text(hidden.contains)) }
        .filter { !$0.text.isEmpty }.map { "# \($0.name)\n\n" + $0.text }.joined(separator: "\n"),
      "MoonbaseLua": "# MoonbaseLua\n\n" + (try Module("MoonbaseLua").text { _ in true }),
    ]
  }

  /// The names exported by `import Moonbase`: whole modules, and single names of the graph and of the store below it.
  private struct Exports {
    /// The modules whose names are listed individually.
    static let listed = ["MoonbaseGraph", "MoonbaseStore"]

    var modules: Set<String> = []
    var names: Set<String> = []

    init() throws {
      for line in try Checkout.text("Sources/Moonbase/Exports.swift").split(separator: "\n") {
        if let whole = line.wholeMatch(of: #/@_exported public import (\w+)/#) {
          modules.insert(String(whole.1))
        } else if let single = line.wholeMatch(of: #/@_exported public import \w+ Moonbase(?:Graph|Store)\.(\w+)/#) {
          names.insert(String(single.1))
        }
      }
    }
  }

  /// The public declarations of a module.
  private struct Module {
    private struct Graph: Decodable {
      struct Symbol: Decodable {
        struct Fragment: Decodable { let spelling: String }
        let pathComponents: [String]
        let declarationFragments: [Fragment]

        var declaration: String {
          declarationFragments.map(\.spelling).joined().split { $0.isWhitespace }.joined(separator: " ")
        }
      }
      let symbols: [Symbol]
    }

    /// The module's own types, and operators.
    private(set) var types: Set<String> = []
    /// The declarations by type name, including members that this module adds to another module's type.
    private var members: [String: Set<String>] = [:]

    init(_ name: String) throws {
      let folder = try TemporaryFolder()
      let outcome = try ChildProcess.run(
        named: "swift-symbolgraph-extract",
        [
          "-module-name", name, "-target", Self.target, "-minimum-access-level", "public",
          "-skip-synthesized-members", "-output-dir", folder.url.path,
        ] + CompileCheck.searchOptions())
      try #require(outcome.status == 0, "\(outcome.complaints)")
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
        let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: folder.file(file)))
        for symbol in graph.symbols { add(symbol, isOwn: file == "\(name).symbols.json") }
      }
    }

    private mutating func add(_ symbol: Graph.Symbol, isOwn: Bool) {
      let path = symbol.pathComponents
      if isOwn, path.count == 1 { types.insert(path[0]) }
      let scope = path.dropFirst().dropLast().map { "\($0): " }.joined()
      members[path[0], default: []].insert((path.count == 1 ? "" : "  ") + scope + symbol.declaration)
    }

    /// The declarations of some types, sorted.
    func text(_ isIncluded: (String) -> Bool) -> String {
      members.keys.filter(isIncluded).sorted().map { name in
        let lines = members[name]!.sorted { ($0.hasPrefix(" ") ? 1 : 0, $0) < ($1.hasPrefix(" ") ? 1 : 0, $1) }
        let heading = lines[0].hasPrefix(" ") ? ["extension \(name)"] : []
        return (heading + lines).joined(separator: "\n") + "\n"
      }.joined()
    }

    #if arch(x86_64)
      private static let target = "x86_64-unknown-linux-gnu"
    #else
      private static let target = "aarch64-unknown-linux-gnu"
    #endif
  }
}
