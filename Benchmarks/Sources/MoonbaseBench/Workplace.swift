import Foundation

/// A folder for the files of a run, the size of the work, and the answers given so far.
final class Workplace {
  let folder: URL
  /// The number of objects or rows that each side processes.
  let count: Int
  /// The maximum memory of a Moonbase program since the last reset, in bytes.
  var peak: Int64 = 0
  private var answers: [String: Answer] = [:]

  init(count: Int) throws {
    self.count = count
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> URL {
    folder.appendingPathComponent(name)
  }

  /// Removes an SQLite file with its log and index.
  func removeStore(_ name: String) {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(at: file(name + suffix))
    }
  }

  /// Replaces an SQLite file by a copy of another, which must be closed.
  func copyStore(_ original: String, to copy: String) throws {
    removeStore(copy)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: file(original + suffix).path) {
      try FileManager.default.copyItem(at: file(original + suffix), to: file(copy + suffix))
    }
  }

  /// All rounds of both sides must agree; the first round sets the answer.
  func expect(_ answer: Answer, for what: String, from side: String) throws {
    if let known = answers[what], known != answer {
      throw Failure("\(what): the \(side) gave \(answer), before it was \(known)")
    }
    if case .number(let number) = answer, number < 0 {
      throw Failure("\(what): the \(side) failed")
    }
    answers[what] = answer
  }

  func clear() {
    try? FileManager.default.removeItem(at: folder)
  }
}
