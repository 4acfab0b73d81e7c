/// Models in Xcode's form for the tests of `moonbase model`.
enum Models {
  static func people(extraAttribute: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
      <entity name="Person" representedClassName="Person">
        <attribute name="age" optional="YES" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="name" attributeType="String"/>\(extraAttribute)
        <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person" \
    inverseName="friends" inverseEntity="Person"/>
      </entity>
    </model>
    """
  }
}
