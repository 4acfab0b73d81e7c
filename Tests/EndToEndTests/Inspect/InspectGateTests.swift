import MoonbasePageFiles
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Requests that `moonbase inspect` refuses.
@Suite struct InspectGateTests {
  private static let shared = SharedPage()
  private let page: InspectBench

  init() throws { page = try Self.shared.page() }

  static let views = [
    "/", "/app.js", "/api/store", "/api/entity?name=Person", "/api/count?entity=Person", "/api/rows?entity=Person",
    "/api/explain?entity=Person", "/api/object?id=Person/1", "/api/members?id=Person/1&property=friends", "/api/state",
    "/api/value?id=Person/1&property=photo", "/api/diagram", "/api/history", "/api/doctor", "/api/changes",
  ]
  static let changes = [
    "/api/set", "/api/link", "/api/insert", "/api/delete", "/api/undo", "/api/redo", "/api/save", "/api/discard",
  ]

  @Test func theTokenOfTheAddressIsExchangedForACookie() throws {
    let answer = try page.ask("GET", "/?token=\(page.token)", headers: ["Cookie": ""])
    #expect(answer.status == 303 && answer.headers["location"] == "/", "\(answer)")
    let cookie = try #require(answer.headers["set-cookie"])
    #expect(
      cookie.hasPrefix("moonbase-inspect-\(page.port)=") && cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
    #expect(page.token.count == 64 && !cookie.contains(page.token))
    for view in Self.views { #expect(try page.ask("GET", view).status == 200, "\(view)") }
  }

  @Test func withoutTheCookieNothingIsAnswered() throws {
    for view in Self.views + ["/nothing"] {
      for cookie in ["", "moonbase-inspect-\(page.port)=\(page.token)", "other=1"] {
        #expect(try page.ask("GET", view, headers: ["Cookie": cookie]).status == 403, "\(view)")
      }
    }
    for change in Self.changes + ["/api/lua", "/api/stop"] {
      #expect(try page.ask("POST", change, body: "{}", headers: ["Cookie": ""]).status == 403, "\(change)")
    }
    let token = try page.ask("GET", "/?token=\(String(repeating: "0", count: 64))")
    #expect(token.status == 403 && token.headers["set-cookie"] == nil)
  }

  @Test func anotherHostOrOriginIsRefused() throws {
    for host in ["evil.example:\(page.port)", "localhost:\(page.port)", "127.0.0.1", ""] {
      #expect(try page.ask("GET", "/api/store", headers: ["Host": host]).status == 403, "\(host)")
    }
    for headers in [
      ["Origin": "http://evil.example"], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
    ] {
      #expect(try page.ask("GET", "/api/store", headers: headers).status == 403, "\(headers)")
      #expect(try page.ask("POST", "/api/lua", body: "{}", headers: headers).status == 403, "\(headers)")
    }
    #expect(try page.ask("POST", "/api/lua", body: "{}", headers: ["Origin": "", "Sec-Fetch-Site": ""]).status == 403)
    #expect(try page.ask("POST", "/api/lua", body: "{}", headers: ["Origin": "null"]).status == 403)
  }

  @Test func everyAnswerSaysWhatTheBrowserMayDoWithIt() throws {
    for path in ["/", "/api/store", "/api/value?id=Person/1&property=photo", "/api/diagram", "/nothing"] {
      let headers = try page.ask("GET", path).headers
      let policy = try #require(headers["content-security-policy"])
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
      #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe") && !policy.contains("http"))
      #expect(headers["x-content-type-options"] == "nosniff" && headers["referrer-policy"] == "no-referrer")
      #expect(headers["cache-control"] == "no-store")
    }
  }

  @Test func whatIsNoRequestIsRefused() throws {
    func status(_ request: String) throws -> Int { try HTTPAnswer(to: request, port: page.port).status }
    let host = "Host: 127.0.0.1:\(page.port)\r\n"
    #expect(try status("hello\r\n\r\n") == 400)
    #expect(try status("GET http://127.0.0.1/ HTTP/1.1\r\n\(host)\r\n") == 400)
    #expect(try status("GET / HTTP/1.1\r\n\(host)\(host)\r\n") == 400)
    #expect(try status("GET /%FF%FE HTTP/1.1\r\n\(host)\r\n") == 400)
    #expect(try status("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n") == 431)
    let own = "POST /api/lua HTTP/1.1\r\n\(host)Cookie: \(page.cookie)\r\nOrigin: http://127.0.0.1:\(page.port)\r\n"
    #expect(try status("\(own)Content-Length: 99999999999\r\n\r\n") == 413)
    #expect(try status("\(own)Content-Length: -1\r\n\r\n") == 400)
    #expect(try status("\(own)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 411)
    // The server does not wait for the body of a request without the cookie.
    #expect(try status("POST /api/lua HTTP/1.1\r\n\(host)Content-Length: 16000000\r\n\r\nx") == 403)
  }

  /// More connections than the server accepts, without a request.
  @Test func silentStrangersDoNotShutTheOwnerOut() throws {
    let strangers = try (0..<200).map { _ in try ClientSocket(port: page.port) }
    for _ in 0..<10 { #expect(try page.get("/api/state").status == 200) }
    withExtendedLifetime(strangers) {}
  }

  @Test func noPathLeadsOutOfThePage() throws {
    for path in [
      "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/index.html%00", "/page/index.html",
      "/s.sqlite",
    ] {
      #expect(try page.ask("GET", path).status == 404, "\(path)")
    }
  }

  @Test func aStoreThatIsOnlyReadTakesNoChanges() throws {
    for change in Self.changes {
      let answer = try page.post(change, #"{"id": "Person/1", "property": "age", "text": "1"}"#)
      #expect(answer.status == 403 && answer.error.contains("--write"), "\(change): \(answer)")
      #expect(try page.get(change).status == 405)
    }
    #expect(try page.post("/api/rows").status == 405)
    #expect(try page.ask("DELETE", "/api/store", headers: ["Origin": page.origin]).status == 405)
    #expect(try page.ask("POST", "/api/lua", body: "{}", headers: ["Content-Type": "text/plain"]).status == 415)
    #expect(try page.post("/api/lua", "no JSON").status == 400)
  }

  /// The page's files are served unchanged, and they refer to no other server.
  @Test func theFilesOfThePageAreThoseOfTheFolder() throws {
    let folder = Workbench.checkout.appendingPathComponent("page")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect((0..<mbp_file_count()).map { String(cString: mbp_file_at($0).pointee.name) } == names)
    for name in names {
      let file = try Data(contentsOf: folder.appendingPathComponent(name))
      #expect(try page.get("/\(name)").body == file, "\(name)")
      let text = String(decoding: file, as: UTF8.self).replacing("http://www.w3.org/2000/svg", with: "")
      #expect(!text.contains("http://") && !text.contains("https://") && !text.contains("innerHTML"), "\(name)")
      #expect(
        !text.contains("insertAdjacentHTML") && !text.contains("document.write") && !text.contains("eval("), "\(name)")
    }
  }
}
