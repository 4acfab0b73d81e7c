#if os(Linux)
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// The public surface is what `docs/surface` lists, so that a change of it is seen in the commit that makes it.
  @Suite struct PublicSurfaceTests {
    /// Writes the lists anew where the environment says so: `MOONBASE_SURFACE=write`.
    @Test func theListsHoldEveryPublicDeclaration() throws {
      let surface = try PublicSurface()
      for (product, text) in surface.texts {
        let path = "docs/surface/\(product).txt"
        if ProcessInfo.processInfo.environment["MOONBASE_SURFACE"] == "write" {
          try text.write(to: Checkout.file(path), atomically: true, encoding: .utf8)
        }
        let kept = try Checkout.text(path)
        let listed = Set(kept.split(separator: "\n"))
        let found = Set(text.split(separator: "\n"))
        let added = found.subtracting(listed).sorted()
        let removed = listed.subtracting(found).sorted()
        #expect(
          added.isEmpty && removed.isEmpty && kept == text,
          "\(path): added \(added), removed \(removed); where that is meant: MOONBASE_SURFACE=write scripts/test")
      }
    }

    @Test func theChangelogBeginsWithTheVersion() throws {
      let changes = try Checkout.text("CHANGELOG.md")
      let versions = changes.matches(of: #/(?m)^## (.+)$/#).map { String($0.1) }
      #expect(versions.first == MoonbaseVersion.text)
    }

    @Test func anAppDoesNotSeeTheNamesOfStoreAuthors() throws {
      let app = try CompileCheck("import Moonbase\nfunc f(_ context: ManagedObjectContext, _ page: RowPage) {}")
      #expect(!app.succeeded && app.output.contains("cannot find type 'RowPage' in scope"), "\(app.output)")
      let author = try CompileCheck("import MoonbaseStoreKit\nfunc f(_ context: ManagedObjectContext, _ page: RowPage) {}")
      #expect(author.succeeded, "\(author.output)")
    }
  }
#endif
