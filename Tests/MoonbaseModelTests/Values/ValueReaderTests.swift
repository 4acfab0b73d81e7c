import MoonbaseModel
import MoonbasePlatform
import Testing

@Suite struct ValueReaderTests {
  private static let date = Date(timeIntervalSinceReferenceDate: 5)
  private static let uuid = UUID()
  private static let values: [Value] = [
    .null, true, 1, 1.5, .decimal(2), "a", .date(date), .data(Data([1])), .uuid(uuid),
    .uri(URL(fileURLWithPath: "/a")), [1], ["a": 1],
  ]

  @Test(arguments: values.indices) func aReaderGivesTheValuesOfItsOwnTypeOnly(_ index: Int) {
    let value = Self.values[index]
    let read: [Bool] = [
      value.isNull, value.bool == true, value.int == 1, value.double == 1.5, value.decimal == 2, value.string == "a",
      value.date == Self.date, value.data == Data([1]), value.uuid == Self.uuid, value.uri?.path == "/a",
      value.list == [1], value.map == ["a": 1],
    ]
    #expect(read.indices.filter { read[$0] } == [index])
    #expect(value.objectID == nil && value.object == nil)
  }
}
