/// The colours of a picture. No variables of CSS: programs that print know them no more than those that draw.
enum DiagramStyle {
  private struct Colours {
    var paper: String
    var box: String
    var head: String
    var border: String
    var text: String
    var faint: String
    var line: String
    var inheritance: String
  }

  private static let light = Colours(
    paper: "#ffffff", box: "#ffffff", head: "#e8eef7", border: "#8a99ad", text: "#1b2430", faint: "#66717f",
    line: "#44618c", inheritance: "#a05a1c")
  private static let dark = Colours(
    paper: "#15191f", box: "#1d232b", head: "#2a3442", border: "#5d6b7d", text: "#e6eaf0", faint: "#9aa6b4",
    line: "#86aee6", inheritance: "#e2a667")

  static var text: String {
    """
    text { font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "Nimbus Sans", "DejaVu Sans", sans-serif; font-size: 12px }
    .title { font-size: 16px; font-weight: bold }
    .name { font-size: 13px; font-weight: bold }
    .small { font-size: 10px }
    .italic { font-style: italic }
    .unique { text-decoration: underline }
    .end { text-anchor: end }
    .line, .kin { fill: none; stroke-width: 1.3 }
    .mark { stroke-width: 1.3 }
    g:hover > .line, g:hover > .kin { stroke-width: 3 }
    \(rules(light))
    @media screen and (prefers-color-scheme: dark) {
    \(rules(dark))
    }
    """
  }

  private static func rules(_ colours: Colours) -> String {
    """
    .paper { fill: \(colours.paper) }
    .box { fill: \(colours.box); stroke: \(colours.border) }
    .head { fill: \(colours.head); stroke: \(colours.border) }
    .rule { stroke: \(colours.border); stroke-width: 0.7; fill: none }
    text { fill: \(colours.text) }
    .faint { fill: \(colours.faint) }
    .line { stroke: \(colours.line) }
    .kin { stroke: \(colours.inheritance) }
    .mark { stroke: \(colours.line); fill: \(colours.paper) }
    .kinmark { stroke: \(colours.inheritance); fill: \(colours.paper); stroke-width: 1.3 }
    """
  }
}
