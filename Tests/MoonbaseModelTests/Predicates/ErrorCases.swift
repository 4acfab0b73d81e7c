/// Invalid predicate texts, with the error's column and parts of the message.
let errorCases = CaseTable(
  #"""
  age => 4 expected a comparison, for example age == TRUE
  age + 1 => 8 expected a comparison
  age > => 6 expected a value
  age > ) => 7 expected a value, a key path or a function, but found )
  age > 5 AND => 12 expected a value
  age > 5 name == 1 => 9 expected AND, OR or the end, but found name
  name == Ann Bo => 13 expected AND, OR or the end, but found Bo; a text stands in quotes
  name LIKE Ann* => 15 but the text ends here; a pattern stands in quotes
  AND age > 5 => 1 AND is a reserved word; write #AND for a key
  born > 2024-1-27 => 8 2024-1-27 would be a subtraction: write '2024-01-27' for the date
  born = 2024/01/27 => 8 2024/01/27 would be a division: write '2024-01-27' for the date
  born > 2024-01-27 => 8 write '2024-01-27' for the date
  in == 5 => 1 in is a reserved word; write #in
  (age > 5 => 9 expected ), AND or OR, but the text ends
  age > 5) => 8 expected AND, OR or the end, but found )
  age > (5 => 9 expected )
  age == "abc => 8 has no closing "
  age == 'abc => 8 has no closing '
  age == “abc” => 8 does not quote text
  age ≤ 5 => 5 is no operator
  q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.q.a == 1 => 129 the key path has more than 64 keys
  age == 5 == 6 => 10 cannot be chained
  age == (a == 5) => 16 expected an expression
  age % 2 = 0 => 5 the remainder of a division is written %%
  length(name) > 2 => 1 there is no function length; write FUNCTION(name, "length")
  age = %d => 7 there is no argument for %d: none was given
  sqrt(1, 2) = 2 => 1 sqrt: takes 1 argument, but 2 were given
  age BETWEEN 5 => 13 two bounds
  age BETWEEN {1} => 13 two bounds
  age BETWEEN {1, 2, 3} => 13 two bounds
  age BETWEEN {0, {1, 10}} => 13 a bound of BETWEEN is one value and no list
  age BETWEEN {{}, 5} => 13 a bound of BETWEEN
  age BETWEEN[c] {1, 2} => 12 takes no options
  name CONTAINS[x] "a" => 15 there is no option [x]
  name CONTAINS[c "a" => 17 expected ] behind the options
  name CONTAINS[] "a" => 15 expected options
  name IS NULL => 6 write = NULL
  name ILIKE "a" => 6 LIKE[c]
  name UTI-CONFORMS-TO "public.text" => 6 UTI
  name NOT 5 => 10 behind NOT
  name.. == 5 => 6 behind the period
  name. == 5 => 7 behind the period
  .name == 5 => 1 expected a value
  name.5 == 5 => 6 behind the period
  5a == 5 => 1 cannot begin with a digit
  1.5.2 == 5 => 5 behind the period
  $ == 5 => 2 a variable's name behind $
  @ == 5 => 2 an operator's name behind @
  # == 5 => 2 a key behind #
  #"" == 5 => 1 cannot be empty
  a ; b => 3 ; means nothing
  a & b => 6 expected a comparison
  a | b => 6 expected a comparison
  a & == 1 => 5 expected a value
  a ^ (b == 1) == 2 => 14 expected an expression
  a ? b => 3 ? means nothing
  ~ == 1 => 3 expected a value
  a << == 1 => 6 expected a value
  a == 0b12 => 6 0b12 is no number
  a == 0o8 => 6 0o8 is no number
  a == 0b => 6 0b is no number
  a == 0x8000000000000000 => 6 is no number
  % == 5 => 1 expected a placeholder
  %y == 5 => 1 expected a placeholder
  %@ == 5 => 1 there is no argument for %@
  a == %d => 6 there is no argument for %d
  %K == 5 => 1 there is no argument for %K
  a.%@ == 5 => 3 the placeholder of a key is %K
  {1, 2 => 6 expected } or a comma
  a IN {1, } => 10 expected a value
  a IN {1 2} => 9 expected } or a comma
  a IN {,} => 7 expected a value
  a[ == 5 => 4 expected a value
  a[0 == 5 => 5 expected ] behind the index
  a[] == 5 => 3 expected a value
  upercase(a) == 5 => 1 did you mean uppercase?
  nonsense(a) == 5 => 1 there is no function nonsense
  uppercase(a, b) == 5 => 1 takes 1 argument, but 2 were given
  uppercase() == 5 => 1 takes 1 argument, but 0
  add:to:(1) == 5 => 1 takes 2 arguments
  uppercase: == 5 => 12 expected ( behind the function's name
  uppercase(a == 5 => 13 expected ) or a comma
  distanceToLocation:fromLocation:(a, b) < 5 => 1 there are no locations
  CAST(a) == 5 => 1 CAST takes a value and a type's name
  CAST(a, "NSFoo") == 5 => 1 no type NSFoo
  FUNCTION(a) == 5 => 1 FUNCTION takes a target
  FUNCTION(a, b) == 5 => 1 FUNCTION takes a target
  FUNCTION(a, "launchMissiles") == 5 => 1 cannot call launchMissiles
  FUNCTION(a, "length", 5) == 5 => 1 cannot call length with 1
  TERNARY(a, b, c) == 5 => 10 expected a comparison
  TERNARY(a == 1, b) == 5 => 18 a comma and the value for false
  SUBQUERY(a, b, c == 1).@count > 0 => 13 expected a variable
  SUBQUERY(a, $x).@count > 0 => 15 a comma and the condition
  SUBQUERY(a, $x, $x.b).@count > 0 => 21 expected a comparison
  SUBQUERY(a, $x, $x == 1 => 24 expected ) behind the subquery
  ANY a => 6 expected a comparison
  ANY (a == 1) => 13 expected an expression
  a == ANY b => 6 expected an expression and no condition
  NOT => 4 expected a value
  NOT a => 6 expected a comparison
  a == NOT b => 6 expected an expression and no condition
  1e999 == a => 1 is no number
  999999999999999999999999999999999999999999 == a => 1 is no number
  a == "\u12" => 9 four hexadecimal digits
  a AND b == 1 => 3 expected a comparison
  (a == 1) == 2 => 10 expected AND, OR or the end
  (a == 1) + 2 == 2 => 10 expected an expression
  a == 1 + (b == 2) => 18 expected an expression
  TRUEPREDICATE == 1 => 15 expected AND, OR or the end
  ähnlich ~ 5 => 9 expected a comparison
  """#)
