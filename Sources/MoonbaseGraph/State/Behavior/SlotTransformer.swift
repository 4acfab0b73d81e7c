/// The transformer of a slot behind a reference, so that a call copies none of its parts.
package final class SlotTransformer {
  let own: ValueTransformer

  init(_ own: ValueTransformer) { self.own = own }
}
