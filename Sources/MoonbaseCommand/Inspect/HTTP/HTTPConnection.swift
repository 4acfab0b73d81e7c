import MoonbasePlatform

/// A connection from a browser. Requests are answered one after the other.
///
/// It implements the part of HTTP/1.1 that browsers need: persistent connections, and bodies with
/// `Content-Length`. Chunked bodies are refused with status 411. The value belongs to the thread of
/// the connection, which `HTTPServer` starts.
struct HTTPConnection {
  /// The maximum size of the lines before a body, in bytes.
  private static let greatestHead = 16 << 10
  /// The maximum size of the body of a request, in bytes. Larger bodies are refused with status
  /// 413.
  static let greatestBody = 16 << 20
  /// The time that a browser has to send a request, and to receive an answer, in seconds.
  private static let patience = 20
  /// The time limit is extended by a second for each of these bytes of a body.
  private static let leastRate = 1 << 20
  /// The socket. The server closes it after `serve` returns.
  private let descriptor: Int32
  /// Received bytes that belong to the next request.
  private var ahead = Data()

  /// Sets the time limits of the socket, and disables the delay of small packets.
  ///
  /// - Parameter descriptor: A connected socket.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var time = timeval(tv_sec: Self.patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    #if canImport(Darwin)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  /// Answers requests until the browser closes the connection, or until an invalid or refused request arrives.
  /// `admitted` is called after the first valid request.
  ///
  /// - Parameters:
  ///   - refusal: Returns a response for a request that is not allowed. It is called before the body
  ///     is read.
  ///   - admitted: Is called once.
  ///   - answer: Returns the response to an allowed request.
  mutating func serve(
    refusing refusal: (HTTPRequest) -> HTTPResponse?, admitted: () -> Void, _ answer: (HTTPRequest) -> HTTPResponse
  ) {
    var isAdmitted = false
    while true {
      switch next(refusal) {
      case .request(let request):
        if !isAdmitted { admitted() }
        isAdmitted = true
        let response = answer(request)
        let isSent = withExtendedLifetime(response.reservation) {
          send(response, keepsAlive: request.keepsAlive, hasBody: request.method != "HEAD")
        }
        guard isSent, request.keepsAlive else { return }
      case .refused(let status, let message):
        _ = send(.failure(status, message), keepsAlive: false)
        return
      case .barred(let request, let response):
        _ = send(response, keepsAlive: false, hasBody: request.method != "HEAD")
        return
      case .end: return
      }
    }
  }

  /// The result of reading a request.
  private enum Reading {
    /// A complete request.
    case request(HTTPRequest)
    /// An invalid request, with the status and the message of its response.
    case refused(Int, String)
    /// A valid request that is not allowed, with its response.
    case barred(HTTPRequest, HTTPResponse)
    /// The browser has closed the connection, or the time limit has passed.
    case end
  }

  /// Reads the next request up to the end of its body.
  private mutating func next(_ refusal: (HTTPRequest) -> HTTPResponse?) -> Reading {
    let end = Data("\r\n\r\n".utf8)
    var range = ahead.range(of: end)
    while range == nil {
      guard ahead.count <= Self.greatestHead else { return .refused(431, "the head of the request is too large") }
      guard readMore() else { return .end }
      range = ahead.range(of: end)
    }
    guard let range, range.lowerBound - ahead.startIndex <= Self.greatestHead else {
      return .refused(431, "the head of the request is too large")
    }
    guard let request = HTTPRequest(head: ahead[..<range.lowerBound]) else {
      return .refused(400, "this is no request of HTTP/1.1")
    }
    ahead = Data(ahead[range.upperBound...])
    if let response = refusal(request) { return .barred(request, response) }
    return readBody(of: request)
  }

  /// Reads the body of a request whose head was read. The length must be a plain decimal number.
  private mutating func readBody(of request: HTTPRequest) -> Reading {
    guard request.headers["transfer-encoding"] == nil else { return .refused(411, "a body needs a Content-Length") }
    guard let text = request.headers["content-length"] else { return .request(request) }
    guard let length = Int(text), length >= 0, text.allSatisfy(\.isNumber) else {
      return .refused(400, "the Content-Length is no number")
    }
    guard length <= Self.greatestBody else {
      return .refused(413, "a request takes \(Self.greatestBody >> 20) MiB at most")
    }
    while ahead.count < length { guard readMore() else { return .end } }
    let body = Data(ahead.prefix(length))
    ahead = Data(ahead.dropFirst(length))
    return .request(request.with(body: body))
  }

  /// Reads more bytes into `ahead`. Returns false at the end of the connection, or after the time
  /// limit.
  private mutating func readMore() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return false }
    ahead.append(contentsOf: bytes.prefix(count))
    return true
  }

  /// Sends a response. Returns false if the connection was lost.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - keepsAlive: Whether the connection is kept open afterwards.
  ///   - hasBody: False for a HEAD request, whose response has no body.
  private func send(_ response: HTTPResponse, keepsAlive: Bool, hasBody: Bool = true) -> Bool {
    send(response.head(keepsAlive: keepsAlive)) && (!hasBody || send(response.body))
  }

  /// Sends all bytes, in several parts if needed. Returns false if the browser takes too long.
  private func send(_ data: Data) -> Bool {
    let end = Date().addingTimeInterval(Double(Self.patience + data.count / Self.leastRate))
    return data.withUnsafeBytes { bytes in
      var place = 0
      while place < bytes.count, place == 0 || Date() < end {
        let count = MoonbasePlatform.send(
          descriptor, bytes.baseAddress?.advanced(by: place), bytes.count - place, Self.flags)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        place += count
      }
      return place == bytes.count
    }
  }

  #if canImport(Darwin)
    private static let flags: Int32 = 0
  #else
    private static let flags = Int32(MSG_NOSIGNAL)
  #endif
}
