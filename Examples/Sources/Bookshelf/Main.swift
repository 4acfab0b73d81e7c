import Dispatch
import FlyingFox
import FlyingSocks
import Foundation

/// Runs the service until SIGTERM or SIGINT comes: `Bookshelf STORE EXTENSIONS [PORT]`.
@main enum Main {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2 else {
      print("usage: Bookshelf STORE EXTENSIONS [PORT]")
      exit(2)
    }
    let paths = arguments.map { URL(fileURLWithPath: $0) }
    let port = arguments.dropFirst(2).first.flatMap(UInt16.init) ?? 8080

    let shelf = try Shelf(store: paths[0], extensions: paths[1]) { say($0) }
    let server = try await Service(shelf, port: port, say: say).server
    let running = Task { try await server.run() }
    let following = Task { await shelf.follow(say) }
    try await server.waitUntilListening()
    if case .ip4(let address, let port)? = await server.listeningAddress {
      say("listening on http://\(address):\(port)")
    }

    await endOfProcess()
    // Requests that are under way have five seconds.
    await server.stop(timeout: 5)
    _ = await running.result
    try shelf.close()
    await following.value
    say("closed")
  }

  /// Prints a line at once, also where standard output is a file.
  @Sendable private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  /// Returns when the process is asked to end.
  private static func endOfProcess() async {
    let (stream, end) = AsyncStream.makeStream(of: Void.self)
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { end.finish() }
      source.resume()
      return source
    }
    for await _ in stream {}
    for source in sources { source.cancel() }
  }
}
