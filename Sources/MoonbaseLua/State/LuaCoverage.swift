import MoonbaseLuaShim
import MoonbasePlatform

/// Counts the lines of sources that have code and those that ran, in all states that are made while it is the current
/// one.
///
/// ```swift
/// let coverage = LuaCoverage()
/// try LuaCoverage.$current.withValue(coverage) {
///   let state = try LuaState()
///   try state.load("if ... then\n  print(1)\nend", name: "a.lua")()
/// }
/// coverage.lines(of: "a.lua").missed      // [2...2]
/// ```
package final class LuaCoverage: Sendable {
  @TaskLocal package static var current: LuaCoverage?

  /// The lines of a source, by their numbers.
  package struct Lines: Sendable, Equatable {
    /// The lines that have code, as far as Lua tells.
    package var able: Set<Int> = []
    /// The lines that ran.
    package var ran: Set<Int> = []

    /// The ranges of lines that did not run. Between two ranges stand lines that ran.
    package var missed: [ClosedRange<Int>] {
      var ranges: [ClosedRange<Int>] = []
      var isOpen = false
      for line in able.sorted() {
        guard !ran.contains(line) else {
          isOpen = false
          continue
        }
        if isOpen, let last = ranges.popLast() {
          ranges.append(last.lowerBound...line)
        } else {
          ranges.append(line...line)
        }
        isOpen = true
      }
      return ranges
    }
  }

  private let files = Lock<[String: Lines]>([:])
  private let lacksSome = Lock(false)

  package init() {}

  /// The lines of a source.
  package func lines(of name: String) -> Lines { files.withLock { $0[name] ?? Lines() } }

  /// Whether memory was too short to look at all functions.
  package var isIncomplete: Bool { lacksSome.withLock { $0 } }

  fileprivate func noteIncomplete() { lacksSome.withLock { $0 = true } }

  fileprivate func add(_ lines: Lines, to name: String) {
    files.withLock { files in
      files[name, default: Lines()].able.formUnion(lines.able)
      files[name, default: Lines()].ran.formUnion(lines.ran)
    }
  }
}

extension LuaState {
  /// Tells what counts lines of those that ran here so far, and of functions that are here and did not run.
  package func noteCoverage() {
    guard let coverage else { return }
    if !mbl_coverage_finish(raw) { coverage.noteIncomplete() }
    for index in 0..<mbl_coverage_count(raw) {
      let file = mbl_coverage_file(raw, index)
      coverage.add(Self.lines(of: file), to: String(String(cString: file.name).dropFirst()))
    }
  }

  private static func lines(of file: MBLCoveredFile) -> LuaCoverage.Lines {
    var lines = LuaCoverage.Lines()
    for (number, bits) in UnsafeBufferPointer(start: file.lines, count: Int(file.count)).enumerated() {
      if Int(bits) & MBL_LINE_CAN_RUN != 0 { lines.able.insert(number) }
      if Int(bits) & MBL_LINE_RAN != 0 { lines.ran.insert(number) }
    }
    return lines
  }
}
