import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

@Suite struct XcodeModelTests {
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

  /// Xcode leaves an empty name where a transformer was removed.
  @Test func anEmptyNameOfATransformerIsNone() throws {
    let model = try read(
      "<entity name=\"A\"><attribute name=\"a\" attributeType=\"Transformable\" valueTransformerName=\"\"/></entity>")
    #expect(model.entities[0].attributes[0].valueTransformerName == nil)
  }

  @Test func attributesOfEveryTypeAreRead() throws {
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

  @Test func everythingElseOfAModelIsRead() throws {
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

  /// Every element and attribute seen in real models is known, and the model has every supported value.
  @Test func allThatXcodeWritesIsKnown() throws {
    let model = try ManagedObjectModel.read(
      ModelSource(
        Data(
          """
          <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
          <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22222"
            systemVersion="23A" minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithCloudKit="YES"
            userDefinedModelVersionIdentifier="7" usedWithSwiftData="YES" name="M" macOSVersion="A" iOSVersion="B">
            <compositeAttribute name="Place"><attribute name="street" optional="YES" attributeType="String"/></compositeAttribute>
            <entity name="A" representedClassName=".A" isAbstract="YES" elementID="Old" versionHashModifier="1"
              syncable="YES" codeGenerationType="category" coreSpotlightDisplayNameExpression="name">
              <attribute name="name" optional="YES" attributeType="String" minValueString="1" maxValueString="9"
                regularExpressionString="x+" defaultValueString="x" elementID="n" versionHashModifier="2" syncable="YES"
                spotlightIndexingEnabled="YES" storedInTruthFile="YES" indexed="YES" allowsCloudEncryption="YES"
                preserveAfterDeletion="YES"><userInfo><entry key="k" value="v"/></userInfo></attribute>
              <attribute name="when" attributeType="Date" defaultDateTimeInterval="1" minDateTimeInterval="0"
                maxDateTimeInterval="2" usesScalarValueType="NO"/>
              <attribute name="much" attributeType="Transformable" valueTransformerName="T" customClassName="C"/>
              <attribute name="blob" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
              <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES"
                derivationExpression="bs.@count" usesScalarValueType="YES"/>
              <attribute name="place" optional="YES" attributeType="Composite" compositeName="Place"/>
              <attribute name="renamed" optional="YES" transient="YES" renamingIdentifier="r"/>
              <relationship name="bs" optional="YES" transient="NO" toMany="YES" minCount="0" maxCount="9" ordered="YES"
                deletionRule="Cascade" destinationEntity="B" inverseName="a" inverseEntity="B" elementID="e"
                versionHashModifier="3" syncable="YES" spotlightIndexingEnabled="YES"/>
              <fetchIndex name="i" partialIndexPredicate="name != NULL">
                <fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
              <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name="B" parentEntity="A">
              <relationship name="a" maxCount="1" deletionRule="Deny" destinationEntity="A" inverseName="bs"/>
              <fetchedProperty name="near" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="A"
                predicateString="name == $FETCH_SOURCE.name"/></fetchedProperty>
            </entity>
            <fetchRequest name="f" entity="A" predicateString="name == $N" fetchLimit="1" fetchBatchSize="2" resultType="1"
              includeSubentities="NO" includePropertyValues="NO" returnObjectsAsFaults="NO" includesPendingChanges="NO"
              returnDistinctResults="YES"/>
            <configuration name="C" usedWithCloudKit="YES"><memberEntity name="A"/><memberEntity name="B"/></configuration>
            <elements><element name="A" positionX="0" positionY="0" width="128" height="44"/></elements>
          </model>
          """.utf8), name: "contents"))
    #expect(model.warnings == [])
    // Warnings for the transformer and the class, which only the app has.
    #expect(try model.resolved().warnings.count == 2)
    let (a, b) = (model.entities[0], model.entities[1])
    #expect(a.isAbstract && a.managedObjectClassName == "A" && a.renamingIdentifier == "Old")
    #expect(a.versionHashModifier == "1" && a.codeGenerationType == "category")
    #expect(a.coreSpotlightDisplayNameExpression == "name" && b.superentityName == "A")
    let name = a.attributes[0]
    #expect(name.isIndexed && name.isIndexedBySpotlight && name.allowsCloudEncryption)
    #expect(name.preservesValueInHistoryOnDeletion && name.renamingIdentifier == "n" && name.versionHashModifier == "2")
    #expect(a.attributes[2].valueTransformerName == "T" && a.attributes[2].valueClassName == "C")
    #expect(a.attributes[3].allowsExternalBinaryDataStorage)
    #expect(a.attributes[4].derivationExpression == "bs.@count" && a.attributes[4].usesScalarValueType)
    #expect(a.attributes[5].elements.map(\.name) == ["street"])
    #expect(a.attributes[6].renamingIdentifier == "r")
    #expect(a.relationships[0].deleteRule == .cascade && a.relationships[0].isIndexedBySpotlight)
    #expect(a.indexes[0].partialIndexPredicate == "name != NULL")
    let request = try #require(model.fetchRequestTemplates["f"])
    #expect(request.fetchBatchSize == 2 && request.resultType == .objectIDs && request.returnsDistinctResults)
    #expect(!request.includesSubentities && !request.includesPropertyValues && !request.returnsObjectsAsFaults)
    #expect(!request.includesPendingChanges)
    #expect(model.versionIdentifiers == ["7"])
    // The written model reads as the same model.
    #expect(try ManagedObjectModel.read(ModelSource(Data(model.xcodeContents().utf8), name: "contents")) == model)
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

  @Test func whatStandsInsideOfPartsIsReportedToo() throws {
    let model = try read(
      """
      <entity name="A">
        <attribute name="a" attributeType="String" derived="NO" derivationExpression="now()"/>
        <attribute name="b" attributeType="Transformable" defaultValueString="x"/>
        <relationship name="r" maxCount="5" destinationEntity="A"/>
        <relationship name="s" toMany="YES" maxCount="1" destinationEntity="A"/>
        <fetchedProperty name="f" versionHashModifier="2"><fetchRequest name="f" entity="A"/></fetchedProperty>
        <fetchIndex name="i"><fetchIndexElement property="a" depth="3"/><gadget/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint kind="x"><constraint value="a" order="1"/></uniquenessConstraint>
          <gadget/></uniquenessConstraints>
        <compoundIndexes><compoundIndex><index value="a"/><gadget/></compoundIndex></compoundIndexes>
        <userInfo><entry key="k" value="v" secret="YES"><gadget/></entry></userInfo>
      </entity>
      <configuration name="C"><memberEntity name="A" role="x"/></configuration>
      """)
    #expect(
      model.warnings == [
        #"contents:4: entity A, attribute a: derivationExpression="now()" has no meaning, for it is not derived"#,
        #"contents:5: entity A, attribute b: defaultValueString="x" has no meaning for an attribute of type Transformable"#,
        #"contents:6: entity A, relationship r: maxCount="5" has no meaning without toMany="YES": it is to-one"#,
        #"contents:7: entity A, relationship s: toMany="YES" has no meaning beside maxCount="1", which makes it to-one"#,
        #"contents:8: entity A, fetched property f: versionHashModifier="2" is not understood"#,
        #"contents:9: entity A, fetch index i: depth="3" is not understood"#,
        "contents:9: entity A, fetch index i: <gadget> is not understood",
        "contents:11: entity A, uniquenessConstraints: <gadget> is not understood",
        #"contents:10: entity A, uniquenessConstraints: kind="x" is not understood"#,
        #"contents:10: entity A, uniquenessConstraints: order="1" is not understood"#,
        #"contents:13: entity A: secret="YES" is not understood"#,
        "contents:13: entity A: <gadget> is not understood",
        "contents:12: entity A, compoundIndexes: <gadget> is not understood",
        #"contents:15: configuration C: role="x" is not understood"#,
      ])
    #expect(model.entities[0].uniquenessConstraints == [["a"]])
    #expect(model.entities[0].relationships.map(\.isToMany) == [false, false])
  }

  @Test(arguments: [
    (
      #"<fetchRequest name="f" entity="A"/><fetchRequest name="f" entity="A"/>"#,
      "contents:2: fetch request f: it is declared twice: rename one"
    ),
    (
      #"<configuration name="C"/><configuration name="C"/>"#,
      "contents:2: configuration C: it is declared twice: rename one"
    ),
    (
      #"<compositeAttribute name="C"/><compositeAttribute name="C"/>"#,
      "contents:2: composite C: it is declared twice: rename one"
    ),
    (
      #"<entity name="A"><userInfo><entry key="k"/><entry key="k"/></userInfo></entity>"#,
      "contents:2: entity A: the key k of its user info is there twice: rename one"
    ),
    (
      #"<entity name="A"><uniquenessConstraints><uniquenessConstraint><constraint/></uniquenessConstraint></uniquenessConstraints></entity>"#,
      "contents:2: entity A, uniquenessConstraints: value is missing"
    ),
    (
      #"<entity name="A"><compoundIndexes><compoundIndex><index name="a"/></compoundIndex></compoundIndexes></entity>"#,
      "contents:2: entity A, compoundIndexes: value is missing"
    ),
    (
      #"<entity name="A"><fetchIndex name="i"><fetchIndexElement property="a" order="descnding"/></fetchIndex></entity>"#,
      "contents:2: entity A, fetch index i: order is one of ascending, descending, not descnding; did you mean descending?"
    ),
    (
      #"<entity name="A"><fetchIndex name="i"><fetchIndexElement property="a" type="Hash"/></fetchIndex></entity>"#,
      "contents:2: entity A, fetch index i: type is one of Binary, RTree, not Hash"
    ),
  ])
  func whatWouldBeLostIsAnError(body: String, expected: String) {
    #expect(message(body) == expected)
  }

  @Test(arguments: [
    ("<entity/>", "contents:2: entity : name is missing"),
    (
      "<entity name=\"A\">\n<attribute name=\"a\" attributeType=\"Strin\"/></entity>",
      "contents:3: entity A, attribute a: there is no attribute type Strin; did you mean String?"
    ),
    (
      "<entity name=\"A\"><attribute name=\"a\" attributeType=\"Date\" defaultDateTimeInterval=\"x\"/></entity>",
      "contents:2: entity A, attribute a: defaultDateTimeInterval is a number, not x"
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

  /// Defaults and bounds of another type are read as in Core Data, and written unchanged.
  @Test(arguments: [
    (#"attributeType="Integer 64" defaultValueString="NO""#, Value.int(0)),
    (#"attributeType="Boolean" defaultValueString="0.0""#, .bool(false)),
    (#"attributeType="UUID" defaultValueString="none""#, .null),
    (#"attributeType="Integer 16" maxValueString="99999999999""#, .null),
    (#"attributeType="Integer 32" minValueString="0.5""#, .null),
  ])
  func aValueOfAnotherTypeIsAWarning(fields: String, expected: Value) throws {
    let model = try read(#"<entity name="A"><attribute name="a" optional="YES" \#(fields)/></entity>"#)
    let resolved = try model.resolved()
    #expect(resolved.entity("A")?.property("a")?.attribute?.defaultValue == expected)
    #expect(resolved.warnings.count == 1 && resolved.warnings[0].hasPrefix("contents:3: A.a has the "))
    let written = try model.xcodeContents()
    #expect(written.contains(fields.split(separator: " ").last ?? "?"), "\(written)")
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

  @Test func anElementHasALimitOfAttributes() {
    let attributes = (0..<1_000_000).map { "a\($0)=\"\"" }.joined(separator: " ")
    #expect(message("<entity name=\"A\" \(attributes)/>").contains("<entity> has more than 1000 attributes"))
  }

  @Test(arguments: [
    (
      #"<fetchRequest name="f" entity="B"/>"#,
      "contents:4: fetch request f: its entity B is not in the model"
    ),
    (
      #"<configuration name="C"><memberEntity name="Aa"/></configuration>"#,
      "contents:4: configuration C names Aa, which is not an entity of the model; did you mean A?"
    ),
    (#"<entity name="B" parentEntity="C"/>"#, "contents:4: entity B: its parent C is not in the model"),
    (#"<entity name="A"/>"#, "contents:4: entity A is declared twice: remove or rename one of them"),
    (
      #"<entity name="B" parentEntity="B"/>"#,
      "contents:4: entity B inherits from itself: B has the parent B, give it another"
    ),
    (
      #"<entity name="B"><relationship name="r" destinationEntity="Aa"/></entity>"#,
      "contents:4: B.r: its destination Aa is not in the model; did you mean A?"
    ),
    (
      #"<entity name="B"><fetchedProperty name="p"><fetchRequest name="x" entity="Aa"/></fetchedProperty></entity>"#,
      "contents:4: B.p: its entity Aa is not in the model; did you mean A?"
    ),
    (
      #"<entity name="B"><uniquenessConstraints><uniquenessConstraint><constraint value="x"/></uniquenessConstraint></uniquenessConstraints></entity>"#,
      "contents:4: entity B: its uniqueness constraint names x, which is no attribute or to-one relationship of it"
    ),
    (
      #"<entity name="B"><fetchIndex name="i"><fetchIndexElement property="x"/></fetchIndex></entity>"#,
      "contents:4: entity B: its index i names x, which it does not have"
    ),
  ])
  func whatLeadsNowhereNamesFileAndLine(body: String, expected: String) throws {
    let model = try read("<entity name=\"A\"/>\n\(body)")
    let error = #expect(throws: ModelError.self) { try model.resolved() }
    #expect(error.map { "\($0)" }?.hasPrefix(expected) == true, "\(error as Any)")
  }

  @Test func aTemplateThatDoesNotFitWarnsWithItsPlace() throws {
    let model = try read(#"<entity name="A"/><fetchRequest name="f" entity="A" predicateString="b == 1"/>"#)
    #expect(try model.resolved().warnings == ["contents:3: fetch request f: A has no property b"])
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
