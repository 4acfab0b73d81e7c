import MoonbaseTestSupport

/// Small models and extensions for tests of one behaviour.
enum ThingBench {
  static let model = """
    return {
      entities = {
        P = {
          attributes = {
            s = "string", i = "integer64", d = "double", f = "float", bin = "binary", day = "date",
            tr = { "transformable", transformer = "T" }, full = { "string" }, sum = { "double" },
          },
          relationships = {
            q = { to = "P", inverse = "qs" }, qs = { to_many = "P", inverse = "q" },
            fr = { to_many = "P", inverse = "fr" }, ord = { to_many = "P", ordered = true, inverse = "ordOf" },
            ordOf = { to = "P", inverse = "ord" },
          },
        },
      },
    }
    """

  /// A transformer that keeps text as it is.
  static let transformer = """
    transformers = { T = { transform = function(v) return v end, reverse = function(b) return b end } },
    """

  /// Runs scripts over `P` with an extension: what stands in `entities.P`, what stands beside it, and before all.
  static func bench(
    _ kind: StoreKind, _ hooks: String, beside: String = transformer, before: String = ""
  ) throws -> ScriptBench {
    let file = "\(before) return { name = 'x', \(beside) entities = { P = { \(hooks) } } }"
    return try ScriptBench(kind, model: model, extensions: [file])
  }

  /// The same in memory, for what no store has a part in.
  static func bench(
    _ hooks: String, beside: String = transformer, before: String = ""
  ) throws -> ScriptBench {
    try bench(.memory, hooks, beside: beside, before: before)
  }
}
