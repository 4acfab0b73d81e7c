/// The SQL names of scripts' pure derived attributes.
///
/// The names contain the generation, so that a new generation never redefines a function that a statement uses.
package enum DerivedFunctions {
  /// The name of the function with an index, in a generation of scripts. For example `moonbase_derived_7_0`. The index
  /// is that of `PureFunctionProvider.functions`.
  package static func name(_ index: Int, generation: UInt64) -> String { "moonbase_derived_\(generation)_\(index)" }
}
