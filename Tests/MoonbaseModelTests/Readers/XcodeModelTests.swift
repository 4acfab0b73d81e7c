import MoonbaseModel
import MoonbasePlatform
import Testing

@Suite("Models of Xcode")
struct XcodeModelTests {
  private func read(_ body: String, head: String = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") throws
    -> ManagedObjectModel
  {
    try ManagedObjectModel.read(ModelSource(Data("\(head)<model>\n\(body)\n</model>".utf8), name: "contents"))
  }

  private func message(_ body: String, head: String = "") -> String {
    do {
      _ = try read(body, head: head)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func attributesOfEveryType() throws {
    let model = try read(
      """
      <entity name="A" representedClassName=".A" syncable="YES" codeGenerationType="class">
        <attribute name="a" attributeType="Integer 16" defaultValueString="3" minValueString="0" maxValueString="9"/>
        <attribute name="b" optional="YES" attributeType="Decimal" defaultValueString="1.50"/>
        <attribute name="c" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="d" attributeType="Date" defaultDateTimeInterval="86400" minDateTimeInterval="0"/>
        <attribute name="e" attributeType="String" minValueString="2" maxValueString="5" regularExpressionString="x+"/>
        <attribute name="f" attributeType="UUID" defaultValueString="00000000-0000-0000-0000-00000000000F"/>
        <attribute name="g" attributeType="URI" defaultValueString="https://a.b/c"/>
        <attribute name="h" transient="YES"/>
        <attribute name="i" attributeType="Double" defaultValueString="0.0" derived="YES" derivationExpression="x.@sum"/>
        <attribute name="j" attributeType="Binary" allowsExternalBinaryDataStorage="YES" elementID="old"/>
      </entity>
      """)
    #expect(model.warnings == [])
    let attributes = try #require(model.entities.first?.attributes)
    #expect(model.entities[0].managedObjectClassName == "A")
    #expect(attributes[0].defaultValue == 3)
    #expect(attributes[0].validation.maximum == 9)
    #expect(attributes[1].defaultValue == .decimal(Decimal(string: "1.5") ?? 0))
    #expect(attributes[2].defaultValue == true)
    #expect(attributes[3].defaultValue == .date(Date(timeIntervalSinceReferenceDate: 86_400)))
    #expect(attributes[4].validation.maximumLength == 5)
    #expect(attributes[4].validation.regularExpression == "x+")
    #expect(attributes[5].defaultValue == UUID(uuidString: "00000000-0000-0000-0000-00000000000F").map(Value.uuid))
    #expect(attributes[6].defaultValue == URL(string: "https://a.b/c").map(Value.uri))
    #expect(attributes[7].type == .undefined)
    #expect(attributes[8].derivationExpression == "x.@sum")
    #expect(attributes[9].renamingIdentifier == "old")
    #expect(attributes[9].location == SourceLocation(file: "contents", line: 13))
  }

  @Test func everythingElse() throws {
    let model = try read(
      """
      <entity name="A" isAbstract="YES">
        <attribute name="a" attributeType="String"><userInfo><entry key="k" value="v"/></userInfo></attribute>
        <relationship name="b" toMany="YES" minCount="1" maxCount="7" deletionRule="Deny" ordered="YES"
           destinationEntity="A" inverseName="c" inverseEntity="A"/>
        <relationship name="c" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="A" inverseName="b"/>
        <fetchedProperty name="f" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="A" predicateString="a == $FETCH_SOURCE.a"/>
        </fetchedProperty>
        <fetchIndex name="i">
          <fetchIndexElement property="a" type="Binary" order="descending"/>
          <fetchIndexElement expression="lowercase:(a)" expressionType="String" type="Binary" order="ascending"/>
        </fetchIndex>
        <compoundIndexes><compoundIndex><index value="a"/><index value="c"/></compoundIndex></compoundIndexes>
        <userInfo><entry key="x" value="y"/></userInfo>
      </entity>
      <fetchRequest name="r" entity="A" predicateString="a &gt; $X" fetchLimit="5" includesSubentities="NO"/>
      <configuration name="C" usedWithCloudKit="YES"><memberEntity name="A"/></configuration>
      <elements><element name="A" positionX="0" positionY="0" width="1" height="1"/></elements>
      """)
    #expect(model.warnings == [])
    let entity = model.entities[0]
    #expect(entity.attributes[0].userInfo == ["k": "v"])
    #expect(entity.relationships[0].maxCount == 7)
    #expect(entity.relationships[0].deleteRule == .deny)
    #expect(!entity.relationships[0].isOptional)
    #expect(entity.relationships[1].deleteRule == .noAction)
    #expect(
      entity.fetchedProperties[0].fetchRequest.predicate
        == .comparison(.init(.keyPath("a"), .equal, .keyPath(.variable("FETCH_SOURCE"), ["a"]))))
    #expect(entity.indexes.map(\.name) == ["i", "a_c"])
    #expect(entity.indexes[0].elements.map(\.isExpression) == [false, true])
    #expect(entity.userInfo == ["x": "y"])
    #expect(model.fetchRequestTemplates["r"]?.fetchLimit == 5)
    #expect(model.fetchRequestTemplates["r"]?.includesSubentities == false)
    #expect(model.configurations == ["C": ["A"]])
    _ = try model.resolved()
  }

  @Test func whatIsNotUnderstoodIsReported() throws {
    let model = try read(
      """
      <entity name="A" quantumState="both">
        <attribute name="a" attributeType="String" colour="red"/>
        <gadget/>
      </entity>
      """)
    #expect(
      model.warnings == [
        "contents:3: entity A: quantumState=\"both\" is not understood",
        "contents:4: entity A, attribute a: colour=\"red\" is not understood",
        "contents:5: entity A: <gadget> is not understood",
      ])
  }

  @Test(arguments: [
    ("<entity/>", "contents:2: entity : name is missing"),
    (
      "<entity name=\"A\">\n<attribute name=\"a\" attributeType=\"Strin\"/></entity>",
      "contents:3: entity A, attribute a: there is no attribute type Strin; did you mean String?"
    ),
    (
      "<entity name=\"A\"><attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"x\"/></entity>",
      "contents:2: entity A, attribute a: defaultValueString is no integer16: x"
    ),
    (
      "<entity name=\"A\"><relationship name=\"b\"/></entity>",
      "contents:2: entity A, relationship b: destinationEntity is missing"
    ),
    (
      "<entity name=\"A\"><relationship name=\"b\" destinationEntity=\"A\" deletionRule=\"Casade\"/></entity>",
      "contents:2: entity A, relationship b: there is no deletion rule Casade; did you mean Cascade?"
    ),
  ])
  func mistakesNameFileLineAndElement(body: String, expected: String) {
    #expect(message(body) == expected)
  }

  @Test func aPredicateThatDoesNotParseNamesItsPlace() {
    let text = message("\n<fetchRequest name=\"r\" entity=\"A\" predicateString=\"a ===\"/>")
    #expect(text.hasPrefix("contents:3: fetch request r: "))
  }

  @Test func entitiesAndDeclarationsOfADocumentTypeAreNeverRead() {
    let head = "<!DOCTYPE model [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n"
    #expect(message("<entity name=\"&x;\"/>", head: head).contains("a document type with declarations"))
    #expect(message("<entity name=\"&x;\"/>").contains("the entity &x; is not known"))
    #expect(message("<entity name=\"A\"/>", head: "<!DOCTYPE model SYSTEM \"file:///etc/passwd\">") == "")
  }

  @Test func nestingHasALimit() {
    let depth = 100_000
    let text = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    #expect(message(text).contains("elements are nested more than"))
  }

  @Test(arguments: [
    "<entity name=\"A\">", "<entity name=\"A>", "<entity name=A/>", "</entity>", "<entity name=\"A\" name=\"B\"/>",
    "&#xD800;",
    "<entity name=\"A\"/></model><model>", "<!-- ", "<![CDATA[", "<", "&amp",
  ])
  func damagedTextIsRefused(body: String) {
    #expect(message(body).contains("the XML is damaged"))
  }

  @Test func referencesAndCharactersAreReplaced() throws {
    let model = try read("<entity name=\"&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;\"/><!-- <entity name=\"B\"/> -->")
    #expect(model.entities.map(\.name) == ["<&>\"'A😀"])
  }

  @Test func otherEncodingsOfUnicodeAreRead() throws {
    let text = "<?xml version=\"1.0\"?><model><entity name=\"Größe\"/></model>"
    let wide = try #require(text.data(using: .utf16))
    #expect(try ManagedObjectModel.read(ModelSource(wide, name: "c")).entities.map(\.name) == ["Größe"])
    let invalid = Data(text.utf8.map { $0 == UInt8(ascii: "r") ? 0xff : $0 })
    #expect(throws: ModelError.self) { try ManagedObjectModel.read(ModelSource(invalid, name: "c")) }
  }
}
