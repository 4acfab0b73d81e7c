import MoonbasePlatform

/// Allows only requests from the address that the command printed.
///
/// The token in the address is exchanged for a cookie, which no other page can read or send. A request that makes a
/// change must come from the page itself.
///
/// Another page in the browser could otherwise send requests to the port, and other users of the
/// machine could open it. `InspectRoutes` calls the gate for each request before its body is read.
struct InspectGate: Sendable {
  /// The token in the printed address. It is valid as long as the command runs.
  let token = Self.random()
  /// The value of the cookie.
  private let session = Self.random()
  /// The port of the server.
  private let port: UInt16

  /// Creates a gate with a new token and a new cookie.
  ///
  /// - Parameter port: The port on which the server listens.
  init(port: UInt16) { self.port = port }

  /// The only accepted value of the header `Host`. This prevents attacks with a host name that
  /// resolves to this machine.
  private var host: String { "127.0.0.1:\(port)" }

  /// The address of the page.
  ///
  /// Example: `http://127.0.0.1:51234/?token=3f…`.
  var address: String { "http://\(host)/?token=\(token)" }

  /// Cookies of a host are shared by all its ports.
  ///
  /// The port is therefore part of the name, so that several commands can run at a time.
  private var cookieName: String { "moonbase-inspect-\(port)" }

  /// 32 random bytes from the system.
  ///
  /// The result has 64 hexadecimal digits.
  private static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in
      let byte = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
      return byte.count < 2 ? "0\(byte)" : byte
    }.joined()
  }

  /// The response to a request that is not allowed, or nil for an allowed request. `isChange` says whether the request
  /// writes or runs Lua.
  ///
  /// - Parameters:
  ///   - request: The request without its body.
  ///   - isChange: Whether the request must come from the page itself.
  func refusal(of request: HTTPRequest, isChange: Bool) -> HTTPResponse? {
    // Another host name for this address may belong to another page.
    guard request.headers["host"] == host else {
      return .failure(403, "the page is at http://\(host) only: open the address that moonbase inspect printed")
    }
    if request.path == "/", let token = request.query["token"] { return exchange(token) }
    guard let cookie = request.cookie(cookieName), Self.isEqual(cookie, session) else { return refusal(request) }
    let isOwn = isChange ? comesFromPage(request) : !comesFromElsewhere(request)
    return isOwn ? nil : .failure(403, "the request comes from another page")
  }

  /// Answers a valid token with the cookie and a redirection, so that the token disappears from the
  /// address bar.
  private func exchange(_ token: String) -> HTTPResponse {
    guard Self.isEqual(token, self.token) else {
      return .failure(403, "this is not the token that moonbase inspect printed")
    }
    let cookie = "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict"
    return HTTPResponse(status: 303, headers: [("Location", "/"), ("Set-Cookie", cookie)])
  }

  /// The response to a request without the cookie. It is plain text if the user opens the page, and
  /// JSON for data.
  private func refusal(_ request: HTTPRequest) -> HTTPResponse {
    let message = "open the address that moonbase inspect printed: it has a token, and this request has none that holds"
    guard request.path == "/" else { return .failure(403, message) }
    return HTTPResponse(status: 403, type: "text/plain; charset=utf-8", body: Data((message + "\n").utf8))
  }

  /// Whether the headers show that another page made the request.
  private func comesFromElsewhere(_ request: HTTPRequest) -> Bool {
    if let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none" { return true }
    if let origin = request.headers["origin"], origin != "http://\(host)" { return true }
    return false
  }

  /// Whether the headers show that the request comes from the page itself.
  private func comesFromPage(_ request: HTTPRequest) -> Bool {
    let isSaid = request.headers["origin"] != nil || request.headers["sec-fetch-site"] == "same-origin"
    return isSaid && !comesFromElsewhere(request) && request.headers["sec-fetch-site"] != "none"
  }

  /// Compares two texts in a time that does not reveal where they differ.
  ///
  /// It compares all bytes of texts with equal lengths.
  private static func isEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
