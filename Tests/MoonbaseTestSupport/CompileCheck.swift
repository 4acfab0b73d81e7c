public import MoonbasePlatform

/// Compiles Swift code against the modules of the test build, to prove that some code does not compile.
///
/// Runs `swiftc -emit-sil`: `-typecheck` skips the region checks that keep objects in their context.
public struct CompileCheck: Sendable {
  /// Whether the source compiled.
  public var succeeded: Bool
  /// The compiler's output.
  public var output: String

  /// Compiles `source`, with options of the compiler.
  public init(_ source: String, options: [String] = []) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("source.swift")
    try Data(source.utf8).write(to: file)
    try self.init(files: [file], options: options)
  }

  /// Compiles files as one module, with options of the compiler.
  public init(files: [URL], options: [String] = []) throws {
    let folder = try TemporaryFolder()
    let search = try Self.searchOptions()
    let outcome = try ChildProcess.run(
      named: "swiftc",
      ["-emit-sil", "-wmo", "-swift-version", "6", "-o", "/dev/null"] + options + search + files.map(\.path),
      // The compiler leaves files behind when it fails.
      environment: ["TMPDIR": folder.url.path])
    output = outcome.output + outcome.complaints
    succeeded = outcome.status == 0 && outcome.signal == nil
  }

  /// The lines of the source, counted from 1, in which the compiler reports a value that leaves its isolation.
  public var linesThatLeak: Set<Int> {
    Set(
      output.split(separator: "\n").compactMap { line in
        let parts = line.split(separator: ":", maxSplits: 4)
        guard parts.count == 5, parts[0].hasSuffix("source.swift"), parts[3] == " error",
          ["data race", "Sendable"].contains(where: parts[4].contains)
        else { return nil }
        return Int(parts[1])
      })
  }

  /// Options by which a compiler tool finds the modules of the test build.
  public static func searchOptions() throws -> [String] {
    try searchPaths().flatMap { ["-I", $0] } + madeModuleMaps()
  }

  /// The built Swift modules, and the folders with module maps of the C libraries that they need.
  private static func searchPaths() throws -> [String] {
    let build = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let checkouts = build.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("checkouts")
    var folders = moduleMaps(below: package.appendingPathComponent("Sources"))
    for checkout in try FileManager.default.contentsOfDirectory(atPath: checkouts.path) {
      folders += moduleMaps(below: checkouts.appendingPathComponent(checkout).appendingPathComponent("Sources"))
    }
    return [build.appendingPathComponent("Modules").path] + folders
  }

  /// The module maps that the build generated for C targets without one.
  private static func madeModuleMaps() -> [String] {
    let build = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: build.path)) ?? []
    let maps = names.filter { $0.hasSuffix(".build") && !$0.hasSuffix("-tool.build") }.map {
      build.appendingPathComponent("\($0)/module.modulemap").path
    }
    return maps.filter { FileManager.default.fileExists(atPath: $0) }.sorted().flatMap {
      ["-Xcc", "-fmodule-map-file=\($0)"]
    }
  }

  private static func moduleMaps(below folder: URL) -> [String] {
    let targets = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let candidates = targets.flatMap { [$0, "\($0)/include"] }.map { folder.appendingPathComponent($0).path }
    return candidates.filter { FileManager.default.fileExists(atPath: "\($0)/module.modulemap") }
  }
}
