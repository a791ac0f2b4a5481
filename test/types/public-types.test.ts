// The declarations of the package mention nothing of XState, Kysely or better-sqlite3, however far the types are followed.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Every declaration that is reached from an entry, and every package that it names. */
function reachable(entry: string): { files: string[]; packages: Set<string> } {
  const files: string[] = []
  const packages = new Set<string>()
  const queue = [entry]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (files.includes(file)) continue
    files.push(file)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      if (name?.startsWith('.')) queue.push(resolve(dirname(file), name.replace(/\.(js|ts)$/, '.d.ts')))
      else packages.add(name as string)
    }
  }
  return { files, packages }
}

describe('the public types', () => {
  it('the public types do not mention XState, Kysely or better-sqlite3', () => {
    const entry = join(root, 'dist/index.d.ts')
    expect(existsSync(entry)).toBe(true)
    const { files, packages } = reachable(entry)
    expect(files.length).toBeGreaterThan(5)
    expect([...packages].filter((name) => /xstate|kysely|sqlite/.test(name))).toEqual([])
    expect([...packages].toSorted()).toEqual(['zod'])
  })
})
