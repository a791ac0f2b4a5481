// Merge keys of YAML: `<<: *defaults` puts the keys of another mapping into this one, and `<<: [*a, *b]` those of several. The keys of the
// mapping itself come first, then those of the first source.

export const mergeKey = '<<'

/** How many keys a plan may get by merging: a mapping may be merged at a thousand places. */
const maxMerged = 100_000

type Path = ReadonlyArray<string | number>
type Refuse = (path: Path, message: string) => Error

/**
 * The value with the keys of its merge keys in their places. What is one object at several places stays so.
 * @throws what `refuse` returns, for a source that is not a mapping and for too many keys.
 */
export function withMergedKeys(value: unknown, refuse: Refuse): unknown {
  const known = new Map<object, unknown>()
  let merged = 0

  const sourcesOf = (given: unknown, path: Path): object[] => {
    const sources: unknown[] = Array.isArray(given) ? given : [given]
    return sources.map((source) => {
      if (isMapping(source)) return convert(source, path) as object
      throw refuse(path, 'A merge key takes the alias of a mapping, or a list of them. Write <<: *name')
    })
  }

  const mappingOf = (mapping: object, path: Path): object => {
    const keys = new Map<string, unknown>()
    const own = Object.entries(mapping)
    for (const source of sourcesOf(own.find(([key]) => key === mergeKey)?.[1] ?? [], [...path, mergeKey])) {
      for (const [key, inner] of Object.entries(source)) if (!keys.has(key)) keys.set(key, inner)
    }
    merged += keys.size
    if (merged > maxMerged) {
      throw refuse(
        path,
        `The merge keys of the plan stand for more than ${maxMerged} keys. Put what is common into a group`,
      )
    }
    for (const [key, inner] of own) if (key !== mergeKey) keys.set(key, convert(inner, [...path, key]))
    return Object.fromEntries(keys)
  }

  const convert = (given: unknown, path: Path): unknown => {
    if (typeof given !== 'object' || given === null) return given
    const done = known.get(given)
    if (done !== undefined) return done
    const converted = Array.isArray(given)
      ? given.map((inner, index) => convert(inner, [...path, index]))
      : isMapping(given)
        ? mappingOf(given, path)
        : given
    known.set(given, converted)
    return converted
  }

  return convert(value, [])
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map)
}
