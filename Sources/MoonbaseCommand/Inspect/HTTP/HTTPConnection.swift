import MoonbasePlatform

/// A connection from a browser. Requests are answered one after the other.
struct HTTPConnection {
  /// The maximum size of the lines before a body, in bytes.
  private static let greatestHead = 16 << 10
  static let greatestBody = 16 << 20
  /// The time that a browser has to send a request, and to receive an answer, in seconds.
  private static let patience = 20
  /// The time limit is extended by a second for each of these bytes of a body.
  private static let leastRate = 1 << 20
  private let descriptor: Int32
  /// Received bytes that belong to the next request.
  private var ahead = Data()

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

  private enum Reading {
    case request(HTTPRequest)
    case refused(Int, String)
    case barred(HTTPRequest, HTTPResponse)
    case end
  }

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

  private mutating func readMore() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return false }
    ahead.append(contentsOf: bytes.prefix(count))
    return true
  }

  private func send(_ response: HTTPResponse, keepsAlive: Bool, hasBody: Bool = true) -> Bool {
    send(response.head(keepsAlive: keepsAlive)) && (!hasBody || send(response.body))
  }

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
