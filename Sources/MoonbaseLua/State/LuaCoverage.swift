import MoonbaseLuaShim
import MoonbasePlatform

/// Records executable and executed lines of sources, in all states made while it is current.
///
/// ```swift
/// let coverage = LuaCoverage()
/// try LuaCoverage.$current.withValue(coverage) {
///   let state = try LuaState()
///   try state.load("if ... then\n  print(1)\nend", name: "a.lua")()
/// }
/// coverage.lines(of: "a.lua").missed      // [2...2]
/// ```
///
/// Thread-safe. Used by `moonbase test --coverage`. Recording slows down scripts, since Lua calls a hook for each line.
package final class LuaCoverage: Sendable {
  /// The coverage for states made in the current task.
  @TaskLocal package static var current: LuaCoverage?

  /// The lines of a source, by number.
  package struct Lines: Sendable, Equatable {
    /// The executable lines, as far as Lua reports them.
    package var able: Set<Int> = []
    /// The executed lines.
    package var ran: Set<Int> = []

    /// The ranges of executable lines that did not run. Executed lines separate the ranges.
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

  /// By name of the source.
  private let files = Lock<[String: Lines]>([:])
  /// Whether some functions could not be inspected.
  private let lacksSome = Lock(false)

  /// An empty record.
  package init() {}

  /// The lines of a source.
  package func lines(of name: String) -> Lines { files.withLock { $0[name] ?? Lines() } }

  /// Whether memory was insufficient to inspect all functions.
  package var isIncomplete: Bool { lacksSome.withLock { $0 } }

  /// Called by a state.
  fileprivate func noteIncomplete() { lacksSome.withLock { $0 = true } }

  /// Lines of several states add up.
  fileprivate func add(_ lines: Lines, to name: String) {
    files.withLock { files in
      files[name, default: Lines()].able.formUnion(lines.able)
      files[name, default: Lines()].ran.formUnion(lines.ran)
    }
  }
}

/// Reporting the lines.
extension LuaState {
  /// Adds the executed lines of this state, and the lines of loaded functions that did not run, to the coverage.
  package func noteCoverage() {
    guard let coverage else { return }
    if !mbl_coverage_finish(raw) { coverage.noteIncomplete() }
    for index in 0..<mbl_coverage_count(raw) {
      let file = mbl_coverage_file(raw, index)
      coverage.add(Self.lines(of: file), to: String(String(cString: file.name).dropFirst()))
    }
  }

  /// The bits of each line as sets.
  private static func lines(of file: MBLCoveredFile) -> LuaCoverage.Lines {
    var lines = LuaCoverage.Lines()
    for (number, bits) in UnsafeBufferPointer(start: file.lines, count: Int(file.count)).enumerated() {
      if Int(bits) & MBL_LINE_CAN_RUN != 0 { lines.able.insert(number) }
      if Int(bits) & MBL_LINE_RAN != 0 { lines.ran.insert(number) }
    }
    return lines
  }
}
