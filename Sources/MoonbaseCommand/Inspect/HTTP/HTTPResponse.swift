import MoonbasePlatform

/// A response to a request.
struct HTTPResponse: Sendable {
  var status: Int
  var type = "application/json; charset=utf-8"
  var headers: [(name: String, value: String)] = []
  var body = Data()
  /// The reserved memory for a large body, until the body is sent.
  var reservation: ValuesOnTheirWay.Reservation?

  /// A response with JSON, as all data routes use it.
  static func json(_ json: InspectJSON, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, body: json.data)
  }

  /// An error response with its reason.
  static func failure(_ status: Int, _ message: String) -> HTTPResponse {
    json(["error": .string(message)], status: status)
  }

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

  private static let fixed = [
    ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// The lines before the body.
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
