import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Models as files of each form.
@Suite struct WrittenModelTests {
  /// Reads the bytes of each version again.
  private func check(_ model: ManagedObjectModel, as form: ModelForm) throws {
    let versions = VersionedModel(versions: [.init(name: "M", model: model)], currentName: "M")
    let written = try WrittenModel(versions, as: form)
    for (reduced, bytes) in written.versions where form != .lua {
      let again = try ManagedObjectModel.read(ModelSource(bytes, name: "m"))
      #expect(ModelDifference(from: reduced, to: again).isEmpty)
      #expect(try again.resolved().versionHashes == model.resolved().versionHashes)
      if written.losses.isEmpty { #expect(ModelDifference(from: model, to: again).isEmpty) }
    }
  }

  @Test(arguments: ModelForm.allCases) func aRichModelIsWritten(_ form: ModelForm) throws {
    try check(SampleModels.rich, as: form)
  }

  @Test(
    .enabled(if: RealFiles.areThere, "the real models are not beside the checkout"), arguments: RealFiles.xcodeModels)
  func realModelsAreWritten(name: String) throws {
    for form in ModelForm.allCases { try check(RealFiles.model(name), as: form) }
  }

  @Test(
    .enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"),
    arguments: RealFiles.storesWithCache)
  func modelsOfRealStoresAreWritten(store: String) throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: store))
    for form in ModelForm.allCases { try check(model, as: form) }
  }

  /// The list of versions equals that of Apple's compiler, hashes and checksums included.
  @Test(.enabled(if: RealFiles.areThere, "the real models are not beside the checkout"))
  func theListOfVersionsIsApples() throws {
    let folder = RealFiles.url("models/CoreDataPlus-momd")
    let written = try WrittenModel(VersionedModel(ModelSource(contentsOf: folder)), as: .momd)
    guard case .folder(let parts) = written.piece, case .file(let list)? = parts.last?.piece else {
      throw ModelError(.malformedFile, message: "there is no list")
    }
    let original = try Data(contentsOf: folder.appendingPathComponent("VersionInfo.plist"))
    #expect(try PropertyList(binary: list) == PropertyList(binary: original))
    let versions = ["SampleModel3.mom", "SampleModel3_v2.mom", "SampleModel3_v3.mom"]
    #expect(parts.map(\.name) == versions + ["VersionInfo.plist"])
  }
}
