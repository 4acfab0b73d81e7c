/// Random numbers determined by a seed, so that a failure can be reproduced.
public struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  /// Makes a generator.
  public init(_ seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }

  /// A number from 0 to below `bound`.
  public mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
