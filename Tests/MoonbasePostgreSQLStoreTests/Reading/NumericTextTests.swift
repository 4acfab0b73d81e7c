#if PostgreSQL
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQL

  /// Decimals in PostgreSQL's binary form, as the server itself reads and writes them.
  @Suite struct NumericTextTests {
    @Test(arguments: [
      "0", "1", "-1", "0.1", "-0.05", "10000", "9999", "99990000", "0.0001", "0.00010001",
      "12345678901234567890123456789012345678",
      "-0.00000000000000000000000000000000000001", "1000000000000000000000000", "123.4567", "-Infinity",
    ])
    func aNumeralComesBack(_ text: String) throws {
      let connection = try ServerBench().connection()
      var parameters = Parameters()
      parameters.append(NumericText(text))
      var array = ArrayParameter(.numeric)
      array.append(NumericText(text))
      parameters.append(array)
      let rows = try connection.query("SELECT $1::text, $1, ($2)[1]", parameters)
      #expect(rows.text(0, 0) == text)
      #expect(NumericText(wire: rows.bytes(0, 1))?.text == text)
      #expect(NumericText(wire: rows.bytes(0, 2))?.text == text)
    }
  }
#endif
