import MoonbasePlatform

/// A response to a request.
///
/// All responses have headers that restrict what the page can load and which pages can embed it. No
/// response is stored in a cache.
struct HTTPResponse: Sendable {
  /// The status code, such as 200.
  var status: Int
  /// The value of the header `Content-Type`.
  var type = "application/json; charset=utf-8"
  /// Headers in addition to the fixed headers.
  var headers: [(name: String, value: String)] = []
  /// The bytes after the head.
  var body = Data()
  /// The reserved memory for a large body, until the body is sent.
  var reservation: ValuesOnTheirWay.Reservation?

  /// A response with JSON, as all data routes use it.
  ///
  /// - Parameters:
  ///   - json: The content.
  ///   - status: The status code.
  static func json(_ json: InspectJSON, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, body: json.data)
  }

  /// An error response with its reason.
  ///
  /// The page shows the text of the member `error`.
  static func failure(_ status: Int, _ message: String) -> HTTPResponse {
    json(["error": .string(message)], status: status)
  }

  /// The reason phrases of the status codes in use.
  private static let phrases = [
    200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large", 415: "Unsupported Media Type",
    422: "Unprocessable Content", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    503: "Service Unavailable",
  ]

  /// Scripts and styles are loaded from the page's own files only. Nothing is loaded from elsewhere, and no other page
  /// may show this page in a frame.
  static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "connect-src 'self'",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  /// The headers that every response has.
  private static let fixed = [
    ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// The lines before the body.
  ///
  /// The text ends with an empty line, as RFC 9112 requires.
  ///
  /// - Parameter keepsAlive: Whether the connection is kept open after the response.
  func head(keepsAlive: Bool) -> Data {
    var lines = ["HTTP/1.1 \(status) \(Self.phrases[status] ?? "Other")"]
    let own = [
      ("Content-Type", type), ("Content-Length", "\(body.count)"), ("Connection", keepsAlive ? "keep-alive" : "close"),
    ]
    for (name, value) in own + Self.fixed + headers.map({ ($0.name, $0.value) }) {
      // A line end in a value would start another header.
      lines.append("\(name): \(value.filter { !$0.isNewline })")
    }
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }
}
