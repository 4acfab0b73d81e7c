/// Deep comparison of two Lua values.
enum SameValues {
  /// Defines the local function `same(one, other)`. Values that are equal by `==` are the same, and so are two NaN.
  static let definition = """
    local function same(one, other)
      if one == other or one ~= one and other ~= other then return true end
      if type(one) ~= "table" or type(other) ~= "table" then return false end
      if getmetatable(one) ~= getmetatable(other) then return false end
      for key, value in next, one do if not same(value, other[key]) then return false end end
      for key in next, other do if one[key] == nil then return false end end
      return true
    end
    """
}
