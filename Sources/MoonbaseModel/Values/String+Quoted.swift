extension String {
  /// The text in double quotation marks, with backslash escapes. `control` gives the escape of control characters that
  /// have no letter.
  ///
  /// For example, a line feed becomes `\n`. Predicates and Lua differ only in `control`.
  package func quoted(control: (Unicode.Scalar) -> String) -> String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7f {
          result += control(scalar)
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  /// The text as a Lua string in double quotation marks.
  package var luaText: String { quoted { "\\u{\(String($0.value, radix: 16))}" } }
}
