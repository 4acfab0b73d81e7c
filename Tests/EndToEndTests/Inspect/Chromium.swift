import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A page in headless Chromium, controlled by the developer tools protocol.
final class Chromium {
  /// The browser's program; nil if none is installed.
  static let program = [
    "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/local/bin/chromium", "/usr/bin/google-chrome",
  ]
  .first { FileManager.default.isExecutableFile(atPath: $0) }

  private let process: ChildProcess
  private let socket: WebSocket
  private var lastID = 0
  /// Exceptions of the page, refused content, and dialogs.
  private(set) var complaints: [String] = []

  /// Starts a browser with its files in a folder, and opens an address.
  init(_ address: String, in folder: URL) throws {
    let program = try #require(Self.program)
    let profile = folder.appendingPathComponent("profile \(UUID().uuidString)")
    process = try ChildProcess(
      URL(fileURLWithPath: program),
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--hide-scrollbars",
        "--disable-background-networking", "--remote-debugging-port=0", "--user-data-dir=\(profile.path)",
        "about:blank",
      ], in: folder)
    let file = profile.appendingPathComponent("DevToolsActivePort")
    var port: UInt16?
    for _ in 0..<3000 where port == nil {
      usleep(20_000)
      port = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").first.flatMap { UInt16($0) }
    }
    let found = try #require(port, "Chromium did not begin")
    let pages = try HTTPAnswer(to: "GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:\(found)\r\n\r\n", port: found).json
    let page = try #require(pages.list.first { $0["type"].text == "page" }?["webSocketDebuggerUrl"].text)
    socket = try WebSocket(page, port: found)
    for name in ["Page", "Runtime", "Log"] { try send("\(name).enable") }
    try send("Page.navigate", ["url": address])
  }

  /// Sends a command, and waits for its result.
  @discardableResult
  func send(_ method: String, _ parameters: [String: Any] = [:]) throws -> JSONTree {
    lastID += 1
    try socket.send(
      JSONSerialization.data(withJSONObject: ["id": lastID, "method": method, "params": parameters]))
    while true {
      let message = JSONTree(try JSONSerialization.jsonObject(with: try socket.receive()))
      if message["id"].int == lastID {
        #expect(message["error"].isNull, "\(method): \(message["error"]["message"].text ?? "")")
        return message["result"]
      }
      note(message)
    }
  }

  private func note(_ event: JSONTree) {
    let parameters = event["params"]
    switch event["method"].text {
    case "Runtime.exceptionThrown":
      complaints.append(parameters["exceptionDetails"]["exception"]["description"].text ?? "exception")
    case "Log.entryAdded":
      let entry = parameters["entry"]
      // Refused requests are part of the tests.
      if entry["level"].text == "error", entry["source"].text != "network" {
        complaints.append(entry["text"].text ?? "")
      }
    case "Page.javascriptDialogOpening": complaints.append("dialog: \(parameters["message"].text ?? "")")
    default: break
    }
  }

  /// The value of an expression of JavaScript.
  @discardableResult
  func value(_ expression: String) throws -> JSONTree {
    let result = try send("Runtime.evaluate", ["expression": expression, "returnByValue": true, "awaitPromise": true])
    #expect(
      result["exceptionDetails"].isNull,
      "\(expression): \(result["exceptionDetails"]["exception"]["description"].text ?? "")")
    return result["result"]["value"]
  }

  /// Waits until an expression is true; fails after half a minute.
  func wait(_ expression: String, _ place: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<600 {
      if try value("Boolean(\(expression))").bool == true { return }
      usleep(50_000)
    }
    let text = try value("document.body.innerText").text ?? ""
    Issue.record("\(expression) did not come: \(text.prefix(2000))", sourceLocation: place)
  }

  private static let codes = ["Enter": 13, "Tab": 9, "Escape": 27]

  /// Presses a key; `modifiers`: 2 for Ctrl, 8 for Shift.
  func press(_ key: String, modifiers: Int = 0) throws {
    var parameters: [String: Any] = ["key": key, "modifiers": modifiers]
    let code = Self.codes[key] ?? Int(key.uppercased().unicodeScalars.first?.value ?? 0)
    parameters["windowsVirtualKeyCode"] = code
    if key == "Enter" { parameters["text"] = "\r" }
    if key.count == 1, modifiers & 2 == 0 { parameters["text"] = key }
    try send("Input.dispatchKeyEvent", parameters.merging(["type": "keyDown"]) { $1 })
    try send("Input.dispatchKeyEvent", parameters.merging(["type": "keyUp", "text": ""]) { $1 })
  }

  func type(_ text: String) throws { try send("Input.insertText", ["text": text]) }

  /// Sets the size of the screen and its colour scheme.
  func show(width: Int, height: Int = 800, dark: Bool = false) throws {
    try send(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500])
    let scheme = ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]
    try send("Emulation.setEmulatedMedia", ["features": [scheme]])
  }

  func screenshot(to file: URL) throws {
    let data = try send("Page.captureScreenshot")["data"].text ?? ""
    try Data(base64Encoded: data)?.write(to: file)
  }
}

/// The part of WebSocket that the protocol needs.
private final class WebSocket {
  private let connection: ClientSocket
  private var ahead = Data()

  init(_ address: String, port: UInt16) throws {
    let path = "/" + address.split(separator: "/").dropFirst(2).joined(separator: "/")
    connection = try ClientSocket(port: port)
    try connection.send(
      Array(
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
          .utf8))
    let end = Data("\r\n\r\n".utf8)
    while ahead.firstRange(of: end) == nil { try readMore() }
    try #require(String(decoding: ahead.prefix(12), as: UTF8.self) == "HTTP/1.1 101")
    if let range = ahead.firstRange(of: end) { ahead = Data(ahead[range.upperBound...]) }
  }

  /// Sends a text with a mask of zeros, which leaves the bytes unchanged.
  func send(_ text: Data) throws {
    var head: [UInt8] = [0x81]
    if text.count < 126 {
      head.append(0x80 | UInt8(text.count))
    } else {
      head.append(0x80 | 127)
      head += (0..<8).reversed().map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
    }
    try connection.send(head + [0, 0, 0, 0] + text)
  }

  func receive() throws -> Data {
    var message = Data()
    while true {
      let head = Array(try take(2))
      var count = Int(head[1] & 0x7F)
      if count == 126 { count = try take(2).reduce(0) { $0 << 8 | Int($1) } }
      if count == 127 { count = try take(8).reduce(0) { $0 << 8 | Int($1) } }
      let part = try take(count)
      if head[0] & 0x0F <= 2 { message += part }
      if head[0] & 0x80 != 0, head[0] & 0x0F <= 2 { return message }
    }
  }

  private func take(_ count: Int) throws -> Data {
    while ahead.count < count { try readMore() }
    defer { ahead = Data(ahead.dropFirst(count)) }
    return ahead.prefix(count)
  }

  private func readMore() throws {
    let bytes = connection.receive()
    try #require(!bytes.isEmpty, "Chromium ended")
    ahead += bytes
  }
}
