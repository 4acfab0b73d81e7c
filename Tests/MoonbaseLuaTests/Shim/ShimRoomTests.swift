import MoonbasePlatform
import Testing

/// The rooms of the C shim use each other in one direction. C compiles only calls of declared functions, so a file's
/// includes are all that it can call.
@Suite struct ShimRoomTests {
  /// Each room may use the rooms before it.
  private static let rooms = ["parser", "limits", "host", "library", "run"]

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../Sources/MoonbaseLuaShim").standardizedFileURL

  @Test func roomsUseThoseBeforeThemOnly() throws {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".c") || $0.hasSuffix(".h") }
    for room in Self.rooms { #expect(paths.contains("\(room)/\(room).h")) }
    #expect(paths.count > 40)
    for path in paths {
      let text = try String(contentsOf: Self.folder.appendingPathComponent(path), encoding: .utf8)
      #expect(Self.wrongArrows(of: path, text) == [])
    }
  }

  @Test func anArrowBackwardsIsFound() {
    #expect(Self.wrongArrows(of: "host/values.c", "#include \"library/library.h\"\n") == ["library/library.h"])
    #expect(Self.wrongArrows(of: "host/values.c", "#include \"MBLRun.h\"\n") == ["MBLRun.h"])
    #expect(Self.wrongArrows(of: "host/values.c", "extern int mbl_begin(void);\n") == ["extern"])
    #expect(Self.wrongArrows(of: "state.h", "#include \"limits/limits.h\"\n") == ["limits/limits.h"])
    #expect(Self.wrongArrows(of: "parser/chain.c", "#include \"state.h\"\n") == ["state.h"])
    #expect(Self.wrongArrows(of: "run/call.c", "#include \"host/host.h\"\n#include <limits.h>\n") == [])
  }

  /// Forbidden includes of a file, and functions that it declares without a header.
  private static func wrongArrows(of path: String, _ text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      if path.hasSuffix(".c"), line.hasPrefix("extern ") { return "extern" }
      guard line.hasPrefix("#include \"") else { return nil }
      let header = String(line.split(separator: "\"")[1])
      return rank(header) <= rank(path) && (header != "MoonbaseLuaShim.h") ? nil : header
    }
  }

  /// 0 for files outside of rooms: the meter and the types. `state.h` is above the parser and below the limits.
  private static func rank(_ path: String) -> Int {
    let name = path.replacing("include/", with: "")
    if name == "state.h" { return 2 }
    if name == "MoonbaseLuaShim.h" { return 100 }
    let room = rooms.firstIndex { name.hasPrefix("\($0)/") || name.lowercased() == "mbl\($0).h" } ?? -1
    return room == 0 ? 1 : room < 0 ? 0 : room + 2
  }
}
