import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A server on the loopback address for a page that one user has open. Each connection has a thread.
///
/// Moonbase has its own server because the tested libraries load other libraries when the command starts
/// (docs/development.md, "The server of inspect").
final class HTTPServer: Sendable {
  /// The maximum number of connections at a time.
  private static let greatestCount = 64
  /// The port on which the server listens. If port 0 was requested, this is the port that the
  /// system chose.
  let port: UInt16
  /// The listening socket.
  private let descriptor: Int32
  /// The connections, which are shared by their threads.
  private let connections = Lock(Connections())

  /// The open connections by file descriptor.
  private struct Connections {
    /// The facts about a connection.
    private struct Known {
      /// The position in the order of arrival.
      let number: Int
      /// Whether an allowed request has arrived on the connection.
      var isAdmitted = false
    }

    /// All open connections.
    private var all: [Int32: Known] = [:]
    /// The number of connections since the start.
    private var count = 0

    /// Adds a connection. If there are too many connections, the oldest connection without an admitted request is
    /// closed. Returns false if there is no such connection.
    ///
    /// - Parameter descriptor: The socket of the new connection.
    mutating func add(_ descriptor: Int32) -> Bool {
      if all.count >= HTTPServer.greatestCount {
        let strangers = all.filter { !$0.value.isAdmitted }
        guard let oldest = strangers.min(by: { $0.value.number < $1.value.number })?.key else { return false }
        all[oldest] = nil
        _ = shutdown(oldest, Int32(SHUT_RDWR))
      }
      count += 1
      all[descriptor] = Known(number: count)
      return true
    }

    /// Marks a connection as admitted, so that it is not closed to make room.
    mutating func admit(_ descriptor: Int32) { all[descriptor]?.isAdmitted = true }

    /// Forgets a closed connection.
    mutating func remove(_ descriptor: Int32) { all[descriptor] = nil }
  }

  /// Listens on a port. Port 0 chooses a free port. Throws `.cannotOpenFile` if the port is in use.
  ///
  /// - Parameter port: The port on 127.0.0.1.
  init(port: UInt16) throws {
    #if canImport(Darwin)
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #endif
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, address, &size) == 0
      }
    }
    guard descriptor >= 0, isBound else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw GraphError(
        .cannotOpenFile,
        message:
          "port \(port) of 127.0.0.1 cannot be used: \(reason); name another one with --port, or 0 for a free one")
    }
    self.descriptor = descriptor
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// Starts to answer requests. `refusal` is called before the body of a request is read.
  ///
  /// The server runs until `stop` is called. Both closures are called on several threads at a time.
  ///
  /// - Parameters:
  ///   - refusal: Returns the response to a request that is not allowed, or nil.
  ///   - answer: Returns the response to an allowed request.
  func start(
    refusing refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
    _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) {
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(descriptor, nil, nil)
        if connection >= 0 {
          serve(connection, refusal, answer)
        } else if errno != EINTR, errno != ECONNABORTED {
          // Without free file descriptors, no connection is accepted until some are closed.
          guard errno == EMFILE || errno == ENFILE else { return }
          usleep(50_000)
        }
      }
    }
  }

  /// Starts a thread for a connection. The connection is closed at once if there are too many.
  private func serve(
    _ descriptor: Int32, _ refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
    _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) {
    guard connections.withLock({ $0.add(descriptor) }) else { _ = close(descriptor); return }
    Thread.detachNewThread { [connections] in
      var connection = HTTPConnection(descriptor)
      connection.serve(refusing: refusal, admitted: { connections.withLock { $0.admit(descriptor) } }, answer)
      connections.withLock { known in
        known.remove(descriptor)
        _ = close(descriptor)
      }
    }
  }

  /// Stops listening.
  ///
  /// Open connections are not closed. They end with the process.
  func stop() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
