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

  /// Runs scripts over `P` with an extension: the contents of `entities.P`, the parts beside it, and code before the
  /// table.
  static func bench(
    _ kind: StoreKind, _ hooks: String, beside: String = transformer, before: String = ""
  ) throws -> ScriptBench {
    let file = "\(before) return { name = 'x', \(beside) entities = { P = { \(hooks) } } }"
    return try ScriptBench(kind, model: model, extensions: [file])
  }

  /// Runs scripts in memory, for behaviour that does not depend on the store.
  static func bench(
    _ hooks: String, beside: String = transformer, before: String = ""
  ) throws -> ScriptBench {
    try bench(.memory, hooks, beside: beside, before: before)
  }
}
