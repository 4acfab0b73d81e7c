import MoonbasePlatform
import MoonbaseTestSupport

/// Runs workers one after another until the time or the number of inputs is used up, and keeps and counts the inputs
/// that ended a worker.
struct Supervisor {
  let target: FuzzTarget
  let seconds: Double
  /// The maximum number of inputs.
  let greatestCount: Int
  let crashes: URL

  /// Returns the number of inputs that ended a worker.
  func run() throws -> Int {
    try FileManager.default.createDirectory(at: crashes, withIntermediateDirectories: true)
    let end = Date(timeIntervalSinceNow: seconds)
    var found = 0
    var tried = 0
    while case let left = end.timeIntervalSinceNow, left > 0.5, tried < greatestCount {
      let note = crashes.appendingPathComponent(".\(target.name)-\(getpid())")
      defer { try? FileManager.default.removeItem(at: note) }
      let worker = try spawn(seconds: min(left, 20), inputs: greatestCount - tried, note: note)
      tried += worker.inputs
      guard let signal = worker.signal else { continue }
      found += 1
      print("signal \(signal): \(try keep(note).path)")
      if found >= 20 { break }
    }
    print("\(target.name): \(tried) inputs in workers that lived, \(found) ended one")
    return found
  }

  private func spawn(seconds: Double, inputs: Int, note: URL) throws -> (inputs: Int, signal: Int32?) {
    let arguments = [
      target.name, "--worker", note.path, "--seconds", String(seconds), "--inputs", String(inputs),
      "--first", String(UInt64.random(in: 0...(1 << 60))),
    ]
    let worker = try ChildProcess.run(URL(fileURLWithPath: CommandLine.arguments[0]), arguments)
    try FileHandle.standardError.write(contentsOf: Data(worker.complaints.utf8))
    if let signal = worker.signal { return (0, signal) }
    guard worker.status == 0 else { throw FuzzFailure("the worker failed: \(worker.output)") }
    return (
      worker.output.split(separator: " ").last.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0,
      nil
    )
  }

  private func keep(_ note: URL) throws -> URL {
    let kept = crashes.appendingPathComponent("\(target.name)-\(UUID().uuidString.prefix(8))")
    try FileManager.default.copyItem(at: note, to: kept)
    return kept
  }
}
