// How this package finds other packages at run time, also from the bundle of an application.
import { join } from 'node:path'

/**
 * Where to look from: beside this module, then beside the program, then in the working directory. A bundle in CommonJS has no URL, and webpack
 * writes into a bundle the URL that the module had where it was built.
 */
const places = (): string[] =>
  [import.meta.url as string | undefined, process.argv[1], join(process.cwd(), 'package.json')].filter(
    (place) => place !== undefined && place !== '',
  ) as string[]

/** Where this module lies, or what lies there, is not known. */
const notThere = ['MODULE_NOT_FOUND', 'ERR_INVALID_ARG_VALUE']

/**
 * Looks for what `find` finds with a `require` from each of these places. A package that is there and does not load is the end of the search: the
 * code of the working directory must not take its place.
 * @throws what `find` throws for the first place where it throws
 */
export function fromOwnPlace<T>(find: (require: NodeJS.Require) => T): T {
  // Imported, webpack would put undefined in place of its calls.
  const { createRequire } = process.getBuiltinModule('node:module')
  let failure: { error: unknown } | undefined
  for (const place of places()) {
    try {
      return find(createRequire(place))
    } catch (error) {
      failure ??= { error }
      if (!notThere.includes((error as { code?: string }).code ?? '')) break
    }
  }
  throw failure?.error
}
