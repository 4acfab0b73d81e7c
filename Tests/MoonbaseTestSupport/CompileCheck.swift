import MoonbasePlatform

/// Compiles a piece of Swift against the modules of the test build, to prove what does not compile.
///
/// Runs `swiftc -emit-sil`: `-typecheck` skips the region checks that keep objects in their context.
public struct CompileCheck: Sendable {
  /// Whether the source compiled.
  public var succeeded: Bool
  /// What the compiler said.
  public var output: String

  /// Compiles `source`.
  public init(_ source: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CompileCheck-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("source.swift")
    try Data(source.utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["swiftc", "-emit-sil", "-swift-version", "6", "-o", "/dev/null"]
      + (try Self.searchPaths()).flatMap { ["-I", $0] }
      + [file.path]
    // The compiler leaves files behind when it fails.
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    succeeded = process.terminationStatus == 0
  }

  /// The built Swift modules, and the folders with module maps of C libraries that these need.
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

  private static func moduleMaps(below folder: URL) -> [String] {
    let targets = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let candidates = targets.flatMap { [$0, "\($0)/include"] }.map { folder.appendingPathComponent($0).path }
    return candidates.filter { FileManager.default.fileExists(atPath: "\($0)/module.modulemap") }
  }
}
