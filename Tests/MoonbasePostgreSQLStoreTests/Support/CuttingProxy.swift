#if PostgreSQL
  import MoonbasePlatform

  /// A way to a server through another loopback port. The way cuts a connection at a message.
  ///
  /// A message is what the protocol of PostgreSQL calls so: a type and a length, followed by as many bytes. Each
  /// connection has a thread, which ends with the connection, after two minutes at most.
  final class CuttingProxy: Sendable {
    enum Direction: Int, CaseIterable, Sendable { case toServer, toClient }

    /// How much of the message at which a connection is cut still arrives.
    enum Part: CaseIterable, Sendable {
      case nothing, half, all
      /// The message arrives after the client lost the connection, when the test calls `deliver`.
      case late
    }

    struct Cut: Sendable {
      let direction: Direction
      /// The number of the message since `arm`, from 0.
      let message: Int
      let part: Part
    }

    private struct State {
      var cut: Cut?
      var counts = [0, 0]
      var hasCut = false
      var late: (socket: Int32, bytes: [UInt8])?
      var replaced: (direction: Direction, old: [UInt8], new: [UInt8])?
      var isOver = false
    }

    let port: Int
    private let state = Lock(State())

    init(to server: Int) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      port = try Self.bound(listener)
      guard listen(listener, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
      let state = state
      Self.thread {
        defer { close(listener) }
        while !state.withLock({ $0.isOver }) {
          var event = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
          guard poll(&event, 1, 50) > 0 else { continue }
          let client = accept(listener, nil, nil)
          guard client >= 0 else { continue }
          Self.thread { Self.carry(client, to: server, state) }
        }
      }
    }

    deinit { state.withLock { $0.isOver = true } }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
      let thread = Thread(block: body)
      thread.name = "cutting proxy"
      thread.start()
    }

    private static func bound(_ socket: Int32) throws -> Int {
      var address = loopback(port: 0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
        }
      }
      guard isBound else { throw POSIXError(.EADDRINUSE) }
      return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func loopback(port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      return address
    }

    // MARK: Cuts

    /// Counts messages from now on, and cuts the connection at one of them.
    func arm(_ cut: Cut?) {
      state.withLock { ($0.cut, $0.counts, $0.hasCut) = (cut, [0, 0], false) }
    }

    /// The numbers of messages since `arm`, to the server and to the client.
    var counts: [Int] { state.withLock { $0.counts } }
    /// Whether a connection was cut since `arm`.
    var hasCut: Bool { state.withLock { $0.hasCut } }

    /// Replaces bytes in messages of a direction. Both texts have the same length.
    func replace(_ old: String, with new: String, _ direction: Direction = .toClient) {
      precondition(old.utf8.count == new.utf8.count)
      state.withLock { $0.replaced = (direction, Array(old.utf8), Array(new.utf8)) }
    }

    /// Delivers a late message to the server, and waits for the end of the answer.
    func deliver() {
      guard
        let late = state.withLock({ state in
          defer { state.late = nil }
          return state.late
        })
      else { return }
      Self.write(late.bytes, to: late.socket)
      shutdown(late.socket, Int32(SHUT_WR))
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(late.socket, &bytes, bytes.count) > 0 {}
      close(late.socket)
    }

    // MARK: A connection

    private static func carry(_ client: Int32, to server: Int, _ state: Lock<State>) {
      let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = loopback(port: server)
      let isConnected = withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      var isLate = false
      defer {
        close(client)
        if !isLate { close(upstream) }
      }
      guard isConnected else { return }
      // Otherwise each further message of an answer waits for the delayed acknowledgement of the last, 40 ms.
      var on: Int32 = 1
      for end in [client, upstream] {
        setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
      }
      var streams = [Stream(from: client, to: upstream), Stream(from: upstream, to: client)]
      streams[1].hasBegun = true
      let end = ContinuousClock.now + .seconds(120)
      while ContinuousClock.now < end, !state.withLock({ $0.isOver }) {
        var events = streams.map { pollfd(fd: $0.source, events: Int16(POLLIN), revents: 0) }
        guard poll(&events, 2, 50) > 0 else { continue }
        for direction in Direction.allCases where events[direction.rawValue].revents != 0 {
          guard let messages = streams[direction.rawValue].messages() else { return }
          for message in messages {
            switch pass(message, direction, streams[direction.rawValue].target, state) {
            case .passed: continue
            case .late:
              isLate = true
              return
            case .cut: return
            }
          }
        }
      }
    }

    private enum Passage { case passed, cut, late }

    private static func pass(
      _ message: [UInt8], _ direction: Direction, _ target: Int32, _ state: Lock<State>
    ) -> Passage {
      var message = message
      let part: Part? = state.withLock { state in
        if let (place, old, new) = state.replaced, direction == place, let range = message.firstRange(of: old) {
          message.replaceSubrange(range, with: new)
        }
        let number = state.counts[direction.rawValue]
        state.counts[direction.rawValue] += 1
        guard let cut = state.cut, !state.hasCut, cut.direction == direction, cut.message == number else { return nil }
        state.hasCut = true
        if cut.part == .late { state.late = (target, message) }
        return cut.part
      }
      switch part {
      case nil:
        write(message, to: target)
        return .passed
      case .nothing: return .cut
      case .half: write(Array(message.prefix(message.count / 2)), to: target)
      case .all: write(message, to: target)
      case .late: return .late
      }
      return .cut
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) {
      var place = 0
      while place < bytes.count {
        let count = bytes[place...].withUnsafeBytes {
          send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return }
        place += count
      }
    }

    /// The bytes of one direction, taken apart into messages.
    private struct Stream {
      let source: Int32
      let target: Int32
      /// Only the first message to the server has no type.
      var hasBegun = false
      private var bytes: [UInt8] = []

      init(from source: Int32, to target: Int32) { (self.source, self.target) = (source, target) }

      /// The messages that are complete. Nil at the end of the stream.
      mutating func messages() -> [[UInt8]]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(source, &chunk, chunk.count)
        guard count > 0 else { return nil }
        bytes += chunk[..<count]
        var messages: [[UInt8]] = []
        while true {
          let start = hasBegun ? 1 : 0
          guard bytes.count >= start + 4 else { return messages }
          let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } + start
          guard bytes.count >= length else { return messages }
          messages.append(Array(bytes[..<length]))
          bytes.removeFirst(length)
          hasBegun = true
        }
      }
    }
  }
#endif
