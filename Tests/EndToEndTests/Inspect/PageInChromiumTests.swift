import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The page in a browser, with a store whose values are markup. Screenshots are in `.build/page`.
@Suite(.enabled(if: TestLength.isLong && Chromium.program != nil), .serialized)
struct PageInChromiumTests {
  private let page: InspectBench
  private let browser: Chromium
  private let pictures: URL

  init() throws {
    page = try InspectBench(Workbench.withPage(), "s.sqlite", "--write", "--extension", "x.lua")
    browser = try Chromium("\(page.origin)/?token=\(page.token)", in: page.bench.folder)
    pictures = Workbench.checkout.appendingPathComponent(".build/page")
    try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
    try browser.wait("document.querySelector('#entities a .number')?.textContent")
  }

  private func go(_ place: String, until wanted: String) throws {
    try browser.value("location.hash = '\(place)'")
    try browser.wait(wanted)
    try browser.wait("!document.querySelector('main').hasAttribute('aria-busy')")
  }

  static let views = [
    ("rows", "#/entity/Person", "document.querySelectorAll('tbody tr').length === 100"),
    ("object", "#/object/Person%2F1?along=friends", "document.querySelector('.members tbody tr')"),
    ("model", "#/model", "document.querySelector('.diagram')?.naturalWidth > 0"),
    ("history", "#/history", "document.querySelectorAll('.timeline > li').length === 3"),
    ("doctor", "#/doctor", "document.querySelector('main').textContent.includes('Nothing is wrong.')"),
    ("lua", "#/lua", "document.activeElement.id === 'code'"),
  ]

  /// Every view at two widths, dark and light: nothing exceeds the screen, and no value is executed.
  @Test func allViewsFitTheScreenAndRunNothing() throws {
    for (width, dark) in [(1280, false), (1280, true), (375, false), (375, true)] {
      try browser.show(width: width, dark: dark)
      for (name, place, wanted) in Self.views {
        try go("#/", until: "document.title.startsWith('Start')")
        try go(place, until: wanted)
        let overflow = try browser.value("document.documentElement.scrollWidth").int ?? 0
        #expect(overflow <= width, "\(name) at \(width)")
        try browser.screenshot(to: pictures.appendingPathComponent("\(name)-\(width)\(dark ? "-dark" : "").png"))
      }
      let ground = try browser.value("getComputedStyle(document.body).backgroundColor").text
      #expect(ground == (dark ? "rgb(20, 22, 28)" : "rgb(255, 255, 255)"))
    }
    #expect(browser.complaints == [])
  }

  @Test func markupIsShownAsText() throws {
    try go("#/entity/Person?where=age%20%3D%3D%203", until: "document.querySelector('tbody tr')")
    #expect(
      try browser.value("document.querySelector('tbody').innerText").text?.contains("<img src=x onerror=alert(1)>")
        == true)
    #expect(try browser.value("document.querySelectorAll('tbody img, tbody script').length").int == 0)
    try go("#/object/Person%2F1", until: "document.querySelector('.fields')")
    #expect(
      try browser.value("document.querySelector('.fields').innerText").text?.contains("<script>alert(1)</script>")
        == true)
    try go("#/entity/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", until: "document.querySelector('[role=alert]')")
    // The content security policy blocks injected markup.
    try browser.value("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked = 1\">')")
    usleep(200_000)
    #expect(try browser.value("window.hacked === undefined").bool == true)
    #expect(browser.complaints.allSatisfy { $0.contains("Content Security Policy") }, "\(browser.complaints)")
    #expect(try browser.value("document.cookie").text == "" && browser.value("location.search").text == "")
  }

  /// From the entities to a saved change, without a mouse.
  @Test func theKeyboardAloneIsEnough() throws {
    try browser.press("?")
    try browser.wait("document.getElementById('dialog').open")
    try browser.press("Escape")
    try browser.press("/")
    try browser.wait("document.activeElement.id === 'filter'")
    try browser.type("pers")
    try browser.press("Tab")
    #expect(try browser.value("document.activeElement.dataset.name").text == "Person")
    try browser.press("Enter")
    try browser.wait("document.querySelectorAll('tbody tr').length === 100")
    try browser.press("f")
    try browser.wait("document.activeElement.id === 'where'")
    try browser.type("age < 3")
    try browser.press("Enter")
    try browser.wait("document.querySelectorAll('tbody tr').length === 2")
    try browser.press("j")
    #expect(try browser.value("document.activeElement.textContent").text == "Person/1")
    try browser.press("Enter")
    try browser.wait("document.querySelector('h1')?.textContent.startsWith('Person/1')")
    try edit("age", "500")
    try browser.wait("document.querySelector('.field.changed .problem')?.textContent")
    #expect(
      try browser.value("document.querySelector('.field.changed input').getAttribute('aria-invalid')").text == "true")
    try browser.press("s", modifiers: 2)
    try browser.wait("document.getElementById('dialog').open")
    #expect(try browser.value("document.getElementById('dialog').innerText").text?.contains("age") == true)
    try browser.press("Enter")
    try browser.wait(
      "!document.getElementById('dialog').open && !document.querySelector('main').hasAttribute('aria-busy')")
    try edit("age", "77")
    try browser.wait("!document.querySelector('.problem')")
    try browser.press("s", modifiers: 2)
    try browser.wait("document.getElementById('changes').textContent.includes('No changes')")
    try browser.wait("!document.querySelector('main').hasAttribute('aria-busy')")
    try edit("name", "")
    try browser.wait("document.querySelector('.field.changed')")
    try browser.press("Escape")
    try browser.press("z", modifiers: 2)
    try browser.wait("!document.querySelector('.field.changed')")
    #expect(try page.get("/api/count", ["entity": "Person", "where": "age == 77"]).json["count"].int == 2)
    #expect(browser.complaints == [])
  }

  /// Types into the field of a property.
  private func edit(_ name: String, _ text: String) throws {
    try browser.value("document.querySelector('[data-focus=\"field \(name)\"]').focus()")
    try browser.value("document.activeElement.select()")
    if text.isEmpty { try browser.value("document.activeElement.value = ''") } else { try browser.type(text) }
    try browser.press("Enter")
  }

  /// The response to a change keeps text typed into the next field meanwhile, and refused text.
  @Test func nothingThatIsTypedIsLost() throws {
    try go("#/object/Person%2F1", until: "document.querySelector('.fields')")
    try edit("age", "many")
    try browser.wait("document.querySelector('.field .problem')?.textContent.includes('no whole number')")
    try browser.value(
      """
      (() => {
        const field = (name) => document.querySelector(`[data-focus="field ${name}"]`);
        field("notes").focus();
        field("notes").value = "a";
        field("name").focus();
        field("name").value = "half ty";
      })()
      """)
    try browser.wait("document.querySelector('.field.changed')")
    #expect(try browser.value("document.activeElement.value").text == "half ty")
    #expect(try browser.value("document.querySelector('[data-focus=\"field age\"]').value").text == "many")
    try browser.press("Tab")
    try browser.wait("document.querySelector('h1').textContent.includes('half ty')")
    try edit("age", "5")
    try browser.wait("!document.querySelector('.problem')")
    #expect(try page.get("/api/object", ["id": "Person/1"]).json["properties"].named("notes")["value"].text == "a")
    #expect(browser.complaints == [])
  }

  @Test func luaRunsAndIsStopped() throws {
    try go("#/lua", until: "document.activeElement.id === 'code'")
    try browser.type("context:fetch('Person'):where('age < 3')")
    try browser.press("Enter", modifiers: 2)
    try browser.wait("document.querySelectorAll('.log tbody tr').length === 2")
    try browser.type("while true do end")
    try browser.press("Enter", modifiers: 2)
    usleep(300_000)
    try browser.value(
      "[...document.querySelectorAll('main button')].find((each) => each.textContent === 'Stop').click()")
    try browser.wait("document.querySelector('.log .problem')?.textContent.includes('interrupted')")
    #expect(browser.complaints == [])
  }

  /// A save that conflicts with another process's save asks which side to keep.
  @Test func aConflictIsAskedAbout() throws {
    try go("#/object/Person%2F1", until: "document.querySelector('.fields')")
    try edit("age", "42")
    try browser.wait("document.querySelector('.field.changed')")
    let run = try page.bench.moonbase(
      "run", "--store", "s.sqlite", "--without-extension", "people", "-e",
      "local c = moonbase.context c:find('Person', { name = 'Person 1' }).age = 43 assert(c:save())")
    #expect(run.status == 0, "\(run)")
    try browser.press("s", modifiers: 2)
    try browser.wait("document.getElementById('dialog').open")
    let text = try browser.value("document.getElementById('dialog').innerText").text ?? ""
    #expect(text.contains("Another process saved an object") && text.contains("43"), "\(text)")
    try browser.value(
      "[...document.querySelectorAll('#dialog button')].find((each) => each.textContent.startsWith('Keep')).click()")
    try browser.wait("document.getElementById('changes').textContent.includes('No changes')")
    #expect(try page.get("/api/count", ["entity": "Person", "where": "age == 43"]).json["count"].int == 1)
    #expect(try page.get("/api/count", ["entity": "Person", "where": "age == 42"]).json["count"].int == 2)
    #expect(browser.complaints == [])
  }

  /// Leaving with unsaved changes asks for confirmation.
  @Test func leavingWithChangesAsks() throws {
    #expect(try page.post("/api/set", #"{"id": "Person/1", "property": "age", "text": "9"}"#).status == 200)
    try go("#/entity/Person", until: "document.querySelector('#changes').textContent.includes('1 unsaved')")
    #expect(try browser.value("!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))").bool == true)
    #expect(try page.post("/api/discard").status == 200)
    try go("#/model", until: "document.querySelector('.diagram')")
    try go("#/entity/Person", until: "document.querySelector('#changes').textContent.includes('No changes')")
    #expect(try browser.value("!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))").bool == false)
  }
}
