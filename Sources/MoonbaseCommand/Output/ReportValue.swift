import MoonbaseModel
import MoonbasePlatform

/// A value in JSON. Dates are in ISO 8601, and binary data is in Base64. Decimals, UUIDs and URIs are texts. Values
/// that JSON cannot represent are null.
///
/// It is used for small reports. Rows are written by `RowPrinter`.
struct ReportValue: Encodable {
  /// The value to encode.
  let value: Value

  /// Wraps a value for encoding.
  ///
  /// - Parameter value: The value to encode.
  init(_ value: Value) { self.value = value }

  /// Encodes the value without an object around it.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .bool(let bool): try container.encode(bool)
    case .int(let integer): try container.encode(integer)
    case .double(let double) where double.isFinite: try container.encode(double)
    case .data(let data): try container.encode(data.base64EncodedString())
    case .list(let list): try container.encode(list.map(ReportValue.init))
    case .map(let map): try container.encode(map.mapValues(ReportValue.init))
    case .null, .double, .object: try container.encodeNil()
    case .string, .decimal, .date, .uuid, .uri, .objectID: try container.encode(value.text)
    }
  }
}
