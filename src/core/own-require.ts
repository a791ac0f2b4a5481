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

/**
 * Looks for what `find` finds with a `require` from each of these places.
 * @throws what `find` throws for the first place, when it throws for all
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
    }
  }
  throw failure?.error
}
