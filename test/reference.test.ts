// The pages of the reference have the tables that their definitions give, and name what has no table of its own.
import { describe, expect, it } from 'vitest'
import { pagesWithTables, withTables } from '../scripts/reference.ts'
import { createEngine } from '../src/engine/create-engine.ts'
import type { Run } from '../src/index.ts'
import { textOf } from './documents.ts'

describe('The tables of the reference', () => {
  it.each(pagesWithTables())('%s is what `npm run reference` writes', async (page) => {
    const text = textOf(page)
    expect(text).toBe(await withTables(text))
  })

  it('a table that a page names and the definitions do not give is an error', async () => {
    await expect(withTables('<!-- reference: riddles -->\n<!-- end of reference -->')).rejects.toThrow(
      'There is no table "riddles"',
    )
  })

  it('the pages with tables are these', () => {
    expect(pagesWithTables()).toEqual([
      'docs/guides/retries.md',
      'docs/reference/abilities.md',
      'docs/reference/commands.md',
      'docs/reference/errors.md',
      'docs/reference/events.md',
      'docs/reference/executors.md',
      'docs/reference/options.md',
      'docs/reference/plan-keys.md',
      'docs/reference/routes.md',
      'docs/reference/run.md',
      'docs/reference/task-fields.md',
    ])
  })
})

it('docs/reference/engine.md names every method of the engine', async () => {
  const page = textOf('docs/reference/engine.md')
  await using engine = await createEngine({ work: false })
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(engine)).filter(
    (name) => name !== 'constructor' && name !== 'open',
  )
  expect(methods.filter((name) => !new RegExp(`\`${name}[\`(]`).test(page))).toEqual([])
})

it('docs/reference/run.md names every method of a run', async () => {
  const page = textOf('docs/reference/run.md')
  let names: string[] = []
  await using engine = await createEngine({
    executors: {
      look: (_task, run: Run) => {
        names = Object.getOwnPropertyNames(Object.getPrototypeOf(run)).filter((name) => name !== 'constructor')
      },
    },
  })
  await engine.result(await engine.create({ executor: 'look' }))
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !new RegExp(`\`${name}[\`(]`).test(page))).toEqual([])
})
