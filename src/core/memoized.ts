/** Memoizes a function of a text. */
export function memoized<V extends {}>(find: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>()
  return (text) => {
    const value = known.get(text) ?? find(text)
    known.set(text, value)
    return value
  }
}
