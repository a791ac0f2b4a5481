// Inputs whose keys may be written either way: `taskId` as everywhere here, or `task_id` as the documents of teams and memory write
// it. What is shown of the schema is the first; a key in both spellings at once is refused, for one of the two would be lost.
import { z } from 'zod'

/**
 * The schema, which also takes its keys in snake_case, and those of `aliases` (other names, in either case) for the key that each
 * stands for. Top level only.
 *
 * @example
 * eitherCase(z.strictObject({ taskId: z.string() }), { task: 'taskId' }) // takes taskId, task_id, task
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
        const message = `\`${before}\` and \`${key}\` are one option, given twice. Leave one of them out`
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
