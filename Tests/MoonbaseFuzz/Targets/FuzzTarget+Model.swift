import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

extension FuzzTarget {
  /// Models of every form that is read from bytes: Xcode's XML, compiled models, a store's model cache.
  static let model = FuzzTarget(name: "model", seeds: modelSeeds, words: modelWords) { bytes in
    let data = Data(bytes)
    let source = ModelSource(data, name: "fuzz")
    if let model = try? ManagedObjectModel.read(source) { tryOut(model) }
    if let model = try? ManagedObjectModel(modelCache: data) { tryOut(model) }
    _ = try? MappingModel(source)
  }

  /// A model that was read can be resolved or refused, compared, printed, and written in every form.
  private static func tryOut(_ model: ManagedObjectModel) {
    _ = ModelDifference(from: model, to: model)
    _ = "\(model)"
    _ = try? model.xcodeContents()
    guard let resolved = try? model.resolved() else { return }
    _ = resolved.version.digest
    _ = MappingInference(from: resolved, to: resolved)
    guard let archive = try? resolved.archive() else { return }
    precondition((try? ManagedObjectModel(archive: archive)) != nil, "an archive of our own cannot be read")
  }

  private static let modelWords = [
    "<!DOCTYPE model [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>", "&a;", "<entity name=\"A\">", "</entity>",
    "parentEntity=\"Person\"", "attributeType=\"Integer 16\"", "bplist00", "NSKeyedArchiver", "$objects", "$top",
    "<database>", "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\">", "idrefs=\"z1\"",
  ]

  private static let modelSeeds: [[UInt8]] = {
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="1">
        <entity name="Person">
          <attribute name="age" attributeType="Integer 16" defaultValueString="0" minValueString="0"/>
          <attribute name="name" optional="YES" attributeType="String" regularExpressionString="[A-Z].*"/>
          <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person"
            inverseName="friends" inverseEntity="Person"/>
          <userInfo><entry key="a" value="b"/></userInfo>
        </entity>
        <entity name="Employee" parentEntity="Person">
          <attribute name="salary" optional="YES" attributeType="Decimal" defaultValueString="0.0"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <fetchRequest name="old" entity="Person" predicateString="age &gt; $AGE"/>
      </model>
      """
    guard let model = try? ManagedObjectModel.read(ModelSource(Data(xml.utf8), name: "seed")),
      let resolved = try? model.resolved(), let archive = try? resolved.archive(),
      let cache = try? resolved.modelCache()
    else { preconditionFailure("the seed of this target is no model") }
    return [Array(xml.utf8), Array(archive), Array(cache), Array(mapping.utf8)]
  }()

  private static let mapping = """
    <?xml version="1.0"?>
    <database>
      <object type="XDDEVMAPPINGMODEL" id="z1">
        <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2"/>
      </object>
      <object type="XDDEVENTITYMAPPING" id="z2">
        <attribute name="sourcename" type="string">A</attribute>
        <attribute name="destinationname" type="string">B</attribute>
        <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z3"/>
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name" type="string">a</attribute></object>
    </database>
    """
}
