/// Makes inputs from seeds: flips, cuts, copies, inserts words, and crosses two seeds. A number always gives the same
/// input.
struct Mutator {
  private var state: UInt64
  private let seeds: [[UInt8]]
  private let words: [[UInt8]]
  private static let greatest = 1 << 16

  init(_ target: FuzzTarget, number: UInt64) {
    seeds = target.seeds.isEmpty ? [[]] : target.seeds
    words = target.words.map { Array($0.utf8) }
    state = number &* 0x9E37_79B9_7F4A_7C15 &+ 0x2545_F491_4F6C_DD1D
  }

  mutating func input() -> [UInt8] {
    var bytes = seeds[below(seeds.count)]
    for _ in 0...below(6) { mutate(&bytes) }
    return Array(bytes.prefix(Self.greatest))
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = below(bytes.count + 1)
    switch below(8) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
    case 1 where place < bytes.count: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF, UInt8(below(256))][below(6)]
    case 2: bytes.removeSubrange(place..<min(bytes.count, place + below(16)))
    case 3: bytes.insert(contentsOf: piece(of: bytes), at: place)
    case 4: bytes = Array(bytes.prefix(place))
    case 5: bytes = bytes.prefix(place) + seeds[below(seeds.count)].suffix(below(200))
    case 6 where !words.isEmpty: bytes.insert(contentsOf: words[below(words.count)], at: place)
    default: bytes.insert(UInt8(below(256)), at: place)
    }
  }

  /// A range of the input, sometimes repeated, for nested or repeated constructs.
  private mutating func piece(of bytes: [UInt8]) -> [UInt8] {
    guard !bytes.isEmpty else { return [] }
    let from = below(bytes.count)
    let piece = Array(bytes[from..<min(bytes.count, from + 1 + below(24))])
    let times = below(8) == 0 ? 1 + below(2000) : 1
    return Array(repeatElement(piece, count: times).joined())
  }

  /// xorshift64*
  private mutating func below(_ bound: Int) -> Int {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % max(1, bound)
  }
}
