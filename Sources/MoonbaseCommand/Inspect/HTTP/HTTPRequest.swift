import MoonbasePlatform

/// A complete request of a browser.
///
/// `HTTPConnection` creates it from the received bytes. It is immutable, so that it can be passed
/// to the thread of the session.
struct HTTPRequest: Sendable {
  /// The method in upper case, such as `GET`.
  let method: String
  /// The decoded path.
  let path: String
  /// The parameters after the question mark. If a name occurs several times, the last value is used.
  let query: [String: String]
  /// The headers by name in lower case.
  let headers: [String: String]
  /// The body, which is empty for most requests.
  let body: Data

  /// The value of a cookie.
  ///
  /// - Parameter name: The name of the cookie, with regard to case.
  /// - Returns: The value, or nil if the request does not contain the cookie.
  func cookie(_ name: String) -> String? {
    for pair in (headers["cookie"] ?? "").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if parts.count == 2, parts[0] == name { return parts[1] }
    }
    return nil
  }

  /// Whether the connection is kept open for more requests.
  ///
  /// In HTTP/1.1, this is the default.
  var keepsAlive: Bool { headers["connection"]?.lowercased() != "close" }
}

extension HTTPRequest {
  /// Parses the lines before the body. Returns nil if they are not a valid request.
  ///
  /// - Parameters:
  ///   - head: The request line and the headers, without the empty line at the end.
  ///   - body: The body, which may be added later.
  init?(head: some Collection<UInt8>, body: Data = Data()) {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
      let name = line[..<colon].lowercased()
      // Two values for one name would be ambiguous.
      guard !name.contains(" "), headers[name] == nil else { return nil }
      headers[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = String(target[0]).removingPercentEncoding,
      let query = Self.query(target.count > 1 ? target[1] : "")
    else { return nil }
    self.init(method: String(words[0]), path: path, query: query, headers: headers, body: body)
  }

  /// Decodes `a=1&b=2`. Returns nil if an escape sequence is invalid.
  private static func query(_ text: Substring) -> [String: String]? {
    var query: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.replacing("+", with: " ").removingPercentEncoding }
      guard let name = parts[0], let value = parts.count > 1 ? parts[1] : "" else { return nil }
      query[name] = value
    }
    return query
  }

  /// The request with a body.
  ///
  /// The body is read after the headers have been checked.
  func with(body: Data) -> HTTPRequest {
    HTTPRequest(method: method, path: path, query: query, headers: headers, body: body)
  }
}
