/// The colours of a picture, scoped to it because it may be part of a page. CSS variables are not used, because drawing
/// programs do not support them.
enum DiagramStyle {
  /// The colours of one mode, as CSS colours.
  private struct Colours {
    /// The background of the picture.
    var paper: String
    /// The background of a box.
    var box: String
    /// The background of a box's head.
    var head: String
    /// The edges of boxes.
    var border: String
    /// The texts.
    var text: String
    /// Types and notes.
    var faint: String
    /// Relationships.
    var line: String
    /// Inheritance.
    var inheritance: String
  }

  /// The colours of light mode.
  private static let light = Colours(
    paper: "#ffffff", box: "#ffffff", head: "#e8eef7", border: "#8a99ad", text: "#1b2430", faint: "#66717f",
    line: "#44618c", inheritance: "#a05a1c")
  /// The colours of dark mode, for screens only.
  private static let dark = Colours(
    paper: "#15191f", box: "#1d232b", head: "#2a3442", border: "#5d6b7d", text: "#e6eaf0", faint: "#9aa6b4",
    line: "#86aee6", inheritance: "#e2a667")

  /// The style sheet. Texts and lines have classes such as `name`, `faint` and `kin`.
  static var text: String {
    """
    .moonbase-diagram text { font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "Nimbus Sans", "DejaVu Sans", sans-serif; font-size: 12px }
    .moonbase-diagram .title { font-size: 16px; font-weight: bold }
    .moonbase-diagram .name { font-size: 13px; font-weight: bold }
    .moonbase-diagram .small { font-size: 10px }
    .moonbase-diagram .italic { font-style: italic }
    .moonbase-diagram .unique { text-decoration: underline }
    .moonbase-diagram .end { text-anchor: end }
    .moonbase-diagram .line, .moonbase-diagram .kin { fill: none; stroke-width: 1.3 }
    .moonbase-diagram .mark { stroke-width: 1.3 }
    .moonbase-diagram g:hover > .line, .moonbase-diagram g:hover > .kin { stroke-width: 3 }
    \(rules(light))
    @media screen and (prefers-color-scheme: dark) {
    \(rules(dark))
    }
    """
  }

  /// The rules with the colours of a mode.
  private static func rules(_ colours: Colours) -> String {
    """
    .moonbase-diagram .paper { fill: \(colours.paper) }
    .moonbase-diagram .box { fill: \(colours.box); stroke: \(colours.border) }
    .moonbase-diagram .head { fill: \(colours.head); stroke: \(colours.border) }
    .moonbase-diagram .rule { stroke: \(colours.border); stroke-width: 0.7; fill: none }
    .moonbase-diagram text { fill: \(colours.text) }
    .moonbase-diagram .faint { fill: \(colours.faint) }
    .moonbase-diagram .line { stroke: \(colours.line) }
    .moonbase-diagram .kin { stroke: \(colours.inheritance) }
    .moonbase-diagram .mark { stroke: \(colours.line); fill: \(colours.paper) }
    .moonbase-diagram .kinmark { stroke: \(colours.inheritance); fill: \(colours.paper); stroke-width: 1.3 }
    """
  }
}
