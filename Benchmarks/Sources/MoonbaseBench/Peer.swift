import Foundation

/// Another library that does the work of some rows: a program that gets the row's name, a file and the number of
/// objects, and prints the seconds of the work and the answer.
struct Peer {
  /// The program of a peer, which `scripts/bench --peers` prepares.
  enum Program {
    /// A script for Python in the folder of peers.
    case python(String)
    /// A Swift program in the folder of built peers. `row` replaces the name of the row.
    case swift(String, row: String?)
  }

  let name: String
  let program: Program
  /// The rows whose work the peer does.
  let rows: Set<String>

  static let all = [
    Peer(name: "SQLAlchemy objects", program: .python("sqlalchemy_peer.py"), rows: ["insert", "fetch"]),
    Peer(name: "sqlite-utils", program: .python("sqlite_utils_peer.py"), rows: ["insert", "fetch"]),
    Peer(name: "GRDB records", program: .swift("grdb-peer", row: nil), rows: ["insert", "fetch"]),
    Peer(name: "GRDB rows", program: .swift("grdb-peer", row: "fetch-rows"), rows: ["fetch"]),
  ]

  /// The reason why a peer has no figure.
  struct Absence: Error {
    let reason: String
  }

  /// The exit status by which a program reports that a requirement is not installed.
  private static let notInstalled: Int32 = 69

  /// Does the work once.
  func run(_ row: String, _ file: URL, count: Int) throws -> (seconds: Double, answer: Answer) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = try command(row) + [file.path, "\(count)"]
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if [Self.notInstalled, 127].contains(process.terminationStatus) {
      throw Absence(reason: installation)
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard process.terminationStatus == 0, words.count == 2, let seconds = Double(words[0]), let answer = Int64(words[1])
    else { throw Failure("\(name) ended with \(process.terminationStatus) in \(row): \(text)") }
    return (seconds, .number(answer))
  }

  /// The program, and the name of the row for it.
  private func command(_ row: String) throws -> [String] {
    switch program {
    case .python(let script): ["python3", try folder("MOONBASE_PEERS") + "/" + script, row]
    case .swift(let name, let other): [try folder("MOONBASE_BUILT_PEERS") + "/" + name, other ?? row]
    }
  }

  private func folder(_ variable: String) throws -> String {
    guard let folder = ProcessInfo.processInfo.environment[variable] else {
      throw Failure("\(variable) does not name the folder of the peers; start this through scripts/bench")
    }
    return folder
  }

  /// The way to install a missing peer.
  private var installation: String {
    switch program {
    case .python: "it is not installed (pip install \(name.split(separator: " ")[0].lowercased()))"
    case .swift: "its package Benchmarks/Peers/grdb was not built"
    }
  }
}

/// A peer's times for a row, or the reason why it has none.
struct PeerOutcome: Encodable {
  let name: String
  var seconds: [Double] = []
  var skipped: String?
}
