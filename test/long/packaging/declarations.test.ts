// What the package declares to its users, in dist: each entry has declarations with their comments, and nothing of XState, Kysely or
// better-sqlite3 is in them, however far the types are followed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { freshTypes } from '../../../scripts/build.ts'
import { libraryEntries } from '../../../scripts/entries.ts'
import { publicTypesAreOurOwn, reachableFrom } from '../../house/rules.ts'
import { packageOf, readFolder } from '../../house/source.ts'

const root = join(import.meta.dirname, '../../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

beforeAll(freshTypes)

describe('The declarations of the package', () => {
  it('reach no xstate, kysely or better-sqlite3', () => {
    expect(publicTypesAreOurOwn(readFolder(root, 'dist', '.d.ts'))).toEqual([])
  })

  it('the declarations of the package of the main entry name no package but zod', () => {
    const reached = reachableFrom(readFolder(root, 'dist', '.d.ts'), ['dist/index.d.ts'])
    const packages = reached.flatMap((file) => file.imports.filter((name) => !name.startsWith('.')).map(packageOf))
    expect([...new Set(packages)]).toEqual(['zod'])
  })

  it.each(Object.keys(libraryEntries))('the declarations of the package exist for the entry %s', (name) => {
    expect(read(`dist/${name}.d.ts`)).toMatch(/^export /m)
  })

  it('the declarations of the package keep their comments and examples, and leave out what is internal', () => {
    const text = read('dist/chunks/engine.d.ts')
    expect(text).toContain('Opens a ledger and an engine on it')
    expect(text).toContain(" * await using engine = await createEngine({ ledger: 'errand.db'")
    expect(text).not.toContain('@internal')
  })

  it('the declarations of the package let a program add the types of its abilities to the module `errand`', () => {
    expect(read('dist/chunks/engine.d.ts')).toMatch(/declare module 'errand' \{\s+interface AbilityTypes extends/)
    expect(read('dist/index.d.ts')).toMatch(/export \{.*type AbilityTypes,/s)
  })
})
