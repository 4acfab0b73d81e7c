import MoonbasePlatform

/// Allows only requests from the address that the command printed.
///
/// The token in the address is exchanged for a cookie, which no other page can read or send. A request that makes a
/// change must come from the page itself.
struct InspectGate: Sendable {
  let token = Self.random()
  private let session = Self.random()
  private let port: UInt16

  init(port: UInt16) { self.port = port }

  private var host: String { "127.0.0.1:\(port)" }

  /// The address of the page.
  var address: String { "http://\(host)/?token=\(token)" }

  /// Cookies of a host are shared by all its ports.
  private var cookieName: String { "moonbase-inspect-\(port)" }

  /// 32 random bytes from the system.
  private static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in
      let byte = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
      return byte.count < 2 ? "0\(byte)" : byte
    }.joined()
  }

  /// The response to a request that is not allowed, or nil for an allowed request. `isChange` says whether the request
  /// writes or runs Lua.
  func refusal(of request: HTTPRequest, isChange: Bool) -> HTTPResponse? {
    // Another host name for this address may belong to another page.
    guard request.headers["host"] == host else {
      return .failure(403, "the page is at http://\(host) only: open the address that moonbase inspect printed")
    }
    if request.path == "/", let token = request.query["token"] { return exchange(token) }
    guard let cookie = request.cookie(cookieName), Self.isEqual(cookie, session) else { return stranger(request) }
    let isOwn = isChange ? comesFromPage(request) : !comesFromElsewhere(request)
    return isOwn ? nil : .failure(403, "the request comes from another page")
  }

  private func exchange(_ token: String) -> HTTPResponse {
    guard Self.isEqual(token, self.token) else {
      return .failure(403, "this is not the token that moonbase inspect printed")
    }
    let cookie = "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict"
    return HTTPResponse(status: 303, headers: [("Location", "/"), ("Set-Cookie", cookie)])
  }

  private func stranger(_ request: HTTPRequest) -> HTTPResponse {
    let message = "open the address that moonbase inspect printed: it has a token, and this request has none that holds"
    guard request.path == "/" else { return .failure(403, message) }
    return HTTPResponse(status: 403, type: "text/plain; charset=utf-8", body: Data((message + "\n").utf8))
  }

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
  private static func isEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
