// Inputs whose keys may be written in camelCase (`taskId`) or in snake_case (`task_id`), as the documents of teams and memory do. The
// published schema shows camelCase. A key given in both spellings is refused, because one of the values would be lost.
import { z } from 'zod'

/**
 * Returns the schema extended to accept its keys in snake_case, and the keys of `aliases` (other names, in either case) for the key that
 * each stands for. Top level only.
 *
 * @example
 * eitherCase(z.strictObject({ taskId: z.string() }), { task: 'taskId' }) // accepts taskId, task_id, task
 */
export function eitherCase<S extends z.ZodObject>(schema: S, aliases: Readonly<Record<string, string>> = {}) {
  const spellings = new Map<string, string>()
  for (const name of Object.keys(schema.shape)) spellings.set(snakeCase(name), name)
  for (const [alias, name] of Object.entries(aliases)) spellings.set(alias, name).set(snakeCase(alias), name)
  for (const name of Object.keys(schema.shape)) spellings.delete(name)
  const rename = (given: z.input<S>, context: z.core.$RefinementCtx): z.input<S> => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
    const renamed: Array<[string, unknown]> = []
    const writtenAs = new Map<string, string>()
    for (const [key, value] of Object.entries(given)) {
      const name = spellings.get(key) ?? key
      const before = writtenAs.get(name)
      if (before !== undefined) {
        const message = `\`${before}\` and \`${key}\` are the same option. Remove one of them`
        context.addIssue({ code: 'custom', message, path: [key] })
      }
      writtenAs.set(name, key)
      renamed.push([name, value])
    }
    return Object.fromEntries(renamed) as z.input<S>
  }
  return z.preprocess(rename, schema)
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
