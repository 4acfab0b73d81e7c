import Foundation

/// Another library that does the work of some rows: a program that gets the row's name, a file and the number of
/// objects, and prints the seconds of the work and the answer.
struct Peer {
  let name: String
  /// The program in the folder of peers; nil if there is none.
  let script: String?
  /// The rows whose work the peer does.
  let rows: Set<String>

  static let all = [
    Peer(name: "SQLAlchemy objects", script: "sqlalchemy_peer.py", rows: ["insert", "fetch"]),
    Peer(name: "sqlite-utils", script: "sqlite_utils_peer.py", rows: ["insert", "fetch"]),
    Peer(name: "GRDB records", script: nil, rows: ["insert", "fetch"]),
    Peer(name: "GRDB rows", script: nil, rows: ["fetch"]),
  ]

  /// The reason why a peer has no figure.
  struct Absence: Error {
    let reason: String
  }

  /// The exit status by which a program reports that a requirement is not installed.
  private static let notInstalled: Int32 = 69

  /// Does the work once.
  func run(_ row: String, _ file: URL, count: Int) throws -> (seconds: Double, answer: Answer) {
    guard let script else { throw Absence(reason: "there is no program for it: its Swift package is not fetched here") }
    guard let folder = ProcessInfo.processInfo.environment["MOONBASE_PEERS"] else {
      throw Failure("MOONBASE_PEERS does not name the folder of the peers; start this through scripts/bench")
    }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", folder + "/" + script, row, file.path, "\(count)"]
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if [Self.notInstalled, 127].contains(process.terminationStatus) {
      throw Absence(reason: "it is not installed (pip install \(name.split(separator: " ")[0].lowercased()))")
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard process.terminationStatus == 0, words.count == 2, let seconds = Double(words[0]), let answer = Int64(words[1])
    else { throw Failure("\(name) ended with \(process.terminationStatus) in \(row): \(text)") }
    return (seconds, .number(answer))
  }
}

/// A peer's times for a row, or the reason why it has none.
struct PeerOutcome: Encodable {
  let name: String
  var seconds: [Double] = []
  var skipped: String?
}
