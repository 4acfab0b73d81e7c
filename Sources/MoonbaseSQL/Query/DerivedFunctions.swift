/// The names under which SQL calls the pure derived attributes of scripts.
///
/// They carry the generation, so that a new one never redefines a function that a statement is using.
package enum DerivedFunctions {
  package static func name(_ index: Int, generation: UInt64) -> String { "moonbase_derived_\(generation)_\(index)" }
}
