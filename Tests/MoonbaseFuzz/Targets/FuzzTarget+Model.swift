import MoonbaseModel
import MoonbasePlatform

extension FuzzTarget {
  /// Models of every form that is read from bytes: Xcode's XML, compiled models, a store's model cache.
  static let model = FuzzTarget(name: "model", seeds: modelSeeds, words: modelWords) { bytes in
    let data = Data(bytes)
    if let model = try? ManagedObjectModel.read(ModelSource(data, name: "fuzz")) {
      _ = try? model.resolved()
    }
    _ = try? ManagedObjectModel(modelCache: data)
  }

  private static let modelWords = [
    "<!DOCTYPE model [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>", "&a;", "<entity name=\"A\">", "</entity>",
    "parentEntity=\"Person\"", "attributeType=\"Integer 16\"", "bplist00", "NSKeyedArchiver", "$objects", "$top",
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
    return [Array(xml.utf8), Array(archive), Array(cache)]
  }()
}
