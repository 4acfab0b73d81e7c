import Testing

@testable import MoonbasePlatform

/// Functions that upper layers install for lower ones.
@Suite struct HostHookTests {
  /// The current position of the stack.
  private static let depth: @Sendable (Int) -> UInt = { number in
    var local = number
    return withUnsafePointer(to: &local) { UInt(bitPattern: $0) }
  }

  @Test func theThousandthCallGoesThroughNoMoreThanTheFirst() {
    let hook = HostHook<@Sendable (Int) -> UInt>()
    #expect(hook.function == nil)
    hook.set(Self.depth)
    let depths = (0..<1000).map { hook.function?($0) }
    #expect(depths[0] != nil)
    #expect(depths.allSatisfy { $0 == depths[0] })
  }
}
