import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A running `moonbase inspect`, and a client that has opened its page.
final class InspectBench: @unchecked Sendable {  // the process is started and ended only
  let bench: Workbench
  let port: UInt16
  let token: String
  let cookie: String
  /// Nil for a command that runs in a terminal.
  private let ownProcess: ChildProcess?

  var process: ChildProcess {
    get throws { try #require(ownProcess) }
  }

  var origin: String { "http://127.0.0.1:\(port)" }

  convenience init(_ bench: Workbench, _ arguments: String...) throws {
    #if os(Linux)
      let process = try bench.beginInterruptible(["inspect"] + arguments)
    #else
      let process = try bench.begin(["inspect"] + arguments)
    #endif
    try process.wait(for: "\n")
    try self.init(bench, shown: process.output, process)
  }

  /// Opens the page at the address that a command has printed.
  init(_ bench: Workbench, shown: String, _ process: ChildProcess? = nil) throws {
    (self.bench, ownProcess) = (bench, process)
    let words = shown.split { ":/?= ".contains($0) || $0.isNewline }
    port = try #require(words.count > 4 ? UInt16(words[2]) : nil, "\(shown)")
    token = String(words[4])
    let answer = try HTTPAnswer(to: "GET /?token=\(token) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port)
    cookie = String((answer.headers["set-cookie"] ?? "").prefix { $0 != ";" })
  }

  /// Sends a request as the page does. `headers` replace the page's own headers; an empty value omits a header.
  func ask(_ method: String, _ path: String, body: String? = nil, headers: [String: String] = [:]) throws -> HTTPAnswer
  {
    var all = ["Host": "127.0.0.1:\(port)", "Cookie": cookie, "Sec-Fetch-Site": "same-origin"]
    if let body {
      all["Origin"] = origin
      all["Content-Type"] = "application/json"
      all["Content-Length"] = "\(body.utf8.count)"
    }
    let lines = all.merging(headers) { $1 }.filter { !$0.value.isEmpty }.map { "\($0): \($1)\r\n" }.joined()
    return try HTTPAnswer(
      to: "\(method) \(path) HTTP/1.1\r\n\(lines)Connection: close\r\n\r\n\(body ?? "")", port: port)
  }

  func get(_ path: String, _ query: [String: String] = [:]) throws -> HTTPAnswer {
    let pairs = query.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
    return try ask("GET", pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))")
  }

  func post(_ path: String, _ body: String = "{}") throws -> HTTPAnswer { try ask("POST", path, body: body) }
}

/// A page shared by the tests of a suite. It ends with the last test; a static variable would keep the command running
/// after the tests.
final class SharedPage: Sendable {
  private struct Place {
    weak var page: InspectBench?
  }

  private let place = Lock(Place())

  func page() throws -> InspectBench {
    try place.withLock { place in
      if let page = place.page { return page }
      let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua")
      place.page = page
      return page
    }
  }
}

/// An HTTP response. The client can send any bytes.
struct HTTPAnswer: CustomStringConvertible {
  let status: Int
  /// Headers by lower-case name.
  let headers: [String: String]
  let body: Data

  init(to request: String, port: UInt16) throws {
    let bytes = try Self.exchange(Array(request.utf8), port: port)
    let end = try #require(bytes.firstRange(of: Data("\r\n\r\n".utf8)), "no answer: \(bytes.count) bytes")
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    headers = Dictionary(
      lines.dropFirst().map { line in
        let colon = line.firstIndex(of: ":") ?? line.endIndex
        return (line[..<colon].lowercased(), line[colon...].dropFirst().trimmingCharacters(in: .whitespaces))
      }
    ) { first, _ in first }
    body = Data(bytes[end.upperBound...])
  }

  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSONTree { JSONTree(try? JSONSerialization.jsonObject(with: body)) }
  var error: String { json["error"].text ?? "" }
  var description: String { "\(status) \(text.prefix(2000))" }

  /// Sends a request and reads to the end given by the headers, or to the end of the connection.
  private static func exchange(_ bytes: [UInt8], port: UInt16) throws -> Data {
    let socket = try ClientSocket(port: port)
    // A server that refuses a request need not read the whole request.
    try? socket.send(bytes)
    var data = Data()
    while !isWhole(data), case let more = socket.receive(), !more.isEmpty { data += more }
    return data
  }

  private static func isWhole(_ data: Data) -> Bool {
    guard let end = data.firstRange(of: Data("\r\n\r\n".utf8)) else { return false }
    let head = String(decoding: data[..<end.lowerBound], as: UTF8.self).lowercased()
    let rest = head.components(separatedBy: "content-length:").dropFirst().first ?? ""
    let length = rest.drop { $0 == " " }.prefix { $0.isNumber }
    return data.count - end.upperBound >= Int(length) ?? .max
  }
}

/// A connection to a port of this machine.
final class ClientSocket {
  struct Closed: Error {}

  private let descriptor: Int32

  init(port: UInt16) throws {
    #if canImport(Darwin)
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var time = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(isConnected)
  }

  deinit { close(descriptor) }

  func send(_ bytes: some Sequence<UInt8>) throws {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      #if canImport(Darwin)
        let count = rest.withUnsafeBytes { MoonbasePlatform.send(descriptor, $0.baseAddress, $0.count, 0) }
      #else
        let count = rest.withUnsafeBytes {
          MoonbasePlatform.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
      #endif
      guard count > 0 else { throw Closed() }
      rest = rest.dropFirst(count)
    }
  }

  /// Receives some bytes; empty at the end.
  func receive() -> Data {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return Data(bytes.prefix(max(0, count)))
  }
}

/// A value within JSON.
struct JSONTree {
  private let value: Any?

  init(_ value: Any?) { self.value = value }

  subscript(key: String) -> JSONTree { JSONTree((value as? [String: Any])?[key]) }
  subscript(index: Int) -> JSONTree {
    let list = value as? [Any] ?? []
    return JSONTree(list.indices.contains(index) ? list[index] : nil)
  }
  var text: String? { value as? String }
  var int: Int? { (value as? NSNumber)?.intValue }
  var bool: Bool? { value as? Bool }
  var isNull: Bool { value == nil || value is NSNull }
  var list: [JSONTree] { (value as? [Any] ?? []).map(JSONTree.init) }
  var keys: [String] { (value as? [String: Any] ?? [:]).keys.sorted() }

  /// The element of a list with a name.
  func named(_ name: String) -> JSONTree { list.first { $0["name"].text == name } ?? JSONTree(nil) }
}

extension Workbench {
  private static let madeForPage = Result { try makeForPage() }

  /// A bench with `s.sqlite`, whose values are hostile to a page, its model and its extension.
  static func withPage() throws -> Workbench {
    let (made, bench) = (try madeForPage.get(), try Workbench())
    for name in try made.names() { try made.bytes(of: name).write(to: bench.file(name)) }
    return bench
  }

  private static func makeForPage() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return {
        entities = {
          Person = {
            attributes = {
              name = { "string", optional = false, max_length = 60 }, age = { "integer16", min = 0, max = 150 }, born = "date",
              photo = "binary", notes = "string", color = { "transformable", transformer = "SRGBColorTransformer" },
              extra = { "transformable", transformer = "JSONTransformer" }, secret = "string", active = "boolean",
            },
            relationships = {
              department = { to = "Department", inverse = "people" }, friends = { to_many = "Person", inverse = "friends" },
            },
          },
          Boss = { parent = "Person", attributes = { title = "string" } },
          Department = {
            attributes = { name = "string" },
            relationships = { people = { to_many = "Person", inverse = "department", delete = "deny" } },
          },
        },
      }
      """, to: "m.lua")
    try bench.write(
      """
      return { name = "people", version = "1.0", entities = { Person = {
        validate = { notes = function(value) return value ~= "bad", "must not be <bad>" end },
        derived = {
          greeting = { type = "string", inputs = { "name" }, get = function(name) return "Hello " .. (name or "") end },
          endless = { type = "string", inputs = { "secret" }, get = function(secret) if secret == "endless" then while true do end end return "x" end },
        },
      } } }
      """, to: "x.lua")
    let code = """
      local c = moonbase.context
      local color = require "moonbase.color"
      local png = "\\x89PNG\\r\\n\\x1a\\n" .. ("x"):rep(100)
      local sales = c:insert("Department", { name = "<script>alert(1)</script>" })
      for i = 1, 120 do
        local p = c:insert(i == 10 and "Boss" or "Person", {
          name = i == 3 and "<img src=x onerror=alert(1)>" or "Person " .. i, age = i, born = "2001-01-01T00:00:01Z",
          notes = "{\\"a\\": [1, null]}", color = color.new(1, 0.5, 0), extra = { list = { 1, 2 } },
          photo = i == 1 and png or i == 2 and "<svg onload='alert(1)'/>" or nil, department = i <= 60 and sales or nil,
        })
        if i > 1 and i <= 71 then p.friends:add(c:find("Person", { name = "Person 1" })) end
      end
      assert(c:save())
      local five = c:find("Person", { name = "Person 5" })
      five.age = 55
      assert(c:save())
      c:delete(c:find("Person", { name = "Person 120" }))
      assert(c:save())
      """
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "--extension", "x.lua", "--keep-history", "--author",
      "<b>me</b>", "-e", code)
    try #require(made.status == 0, "\(made)")
    return bench
  }
}
