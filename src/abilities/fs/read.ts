// fs:read: the text of a file, or some lines of it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { FilesRoot } from './files-root.ts'

const usualLines = 500
const mostLines = 2_000
/** What a model is given at once, whatever the lines are like. */
const mostCharacters = 50_000

export function fsRead(root: FilesRoot) {
  return defineAbility({
    id: 'fs:read',
    access: 'read',
    description: `Reads a text file: at most ${usualLines} lines at once unless more are asked for, from \`fromLine\` on.`,
    input: z.strictObject({
      path: z.string().min(1).describe('The file, from the folder that may be read on, like "notes/plan.md".'),
      fromLine: z.int().min(1).default(1).describe('The first line to give. Default 1.'),
      lines: z.int().min(1).max(mostLines).default(usualLines).describe(`How many lines. Default ${usualLines}.`),
    }),
    output: z.strictObject({
      text: z.string(),
      /** The first and the last line that are in `text`, counted from 1; both 0 when there is none. */
      fromLine: z.int(),
      toLine: z.int(),
      /** Lines of the whole file. */
      totalLines: z.int(),
      /** Characters that are missing from the end of the last line given; 0 but for very long lines. */
      cutCharacters: z.int(),
    }),
    onInterrupt: 'rerun',
    async handle({ path, fromLine, lines }) {
      const all = linesOf(await root.text(path))
      const given = fitting(all.slice(fromLine - 1, fromLine - 1 + lines))
      const text = given.join('\n')
      const last = given.length
      return {
        text: text.slice(0, mostCharacters),
        fromLine: last === 0 ? 0 : fromLine,
        toLine: last === 0 ? 0 : fromLine - 1 + last,
        totalLines: all.length,
        cutCharacters: Math.max(0, text.length - mostCharacters),
      }
    },
  })
}

export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** As many whole lines as may be given at once, but always the first. */
function fitting(lines: readonly string[]): string[] {
  let characters = 0
  const end = lines.findIndex((line, index) => {
    characters += line.length + 1
    return characters > mostCharacters && index > 0
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}
