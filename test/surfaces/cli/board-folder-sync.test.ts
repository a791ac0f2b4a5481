// Commands synchronize a board with the folders that mirror it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Workplace } from './workplace.ts'

const fileOf = (place: Workplace, number: number) => join(place.folder, '.tasks', `task_${number}.json`)
const readTask = (place: Workplace, number: number) =>
  JSON.parse(readFileSync(fileOf(place, number), 'utf8')) as Record<string, unknown>

it('each verb of the board synchronizes the folder that errand board init has created', async () => {
  await using place = new Workplace()
  await place.errand('board', 'init')
  await place.errand('board', 'add', 'Set up')
  await place.errand('board', 'add', 'Write code', '--after', '1')
  expect([readTask(place, 1), readTask(place, 2)]).toMatchObject([
    { id: 1, subject: 'Set up', status: 'pending', blocks: [2], owner: '' },
    { id: 2, blockedBy: [1] },
  ])
  await place.errand('board', 'claim', '1', '--as', 'ann')
  expect(readTask(place, 1)).toMatchObject({ status: 'in_progress', owner: 'ann' })
  await place.errand('board', 'done', '1', '--as', 'ann')
  expect([readTask(place, 1).status, readTask(place, 2).blockedBy]).toEqual(['completed', []])
})

it('each verb of the board applies edits of files first, and reports a refused edit', async () => {
  await using place = new Workplace()
  await place.errand('board', 'init')
  await place.errand('board', 'add', 'Set up')
  await place.errand('board', 'add', 'Write code', '--after', '1')
  writeFileSync(fileOf(place, 1), JSON.stringify({ ...readTask(place, 1), subject: 'Set it all up' }, null, 2))
  expect((await place.errand('board')).out).toContain('#1: Set it all up')

  writeFileSync(fileOf(place, 2), JSON.stringify({ ...readTask(place, 2), status: 'completed' }, null, 2))
  const shown = await place.errand('board')
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('[ ] #2: Write code') as string })
  expect(shown.err).toMatch(/refused task_2\.json: .*blocked by \[1\].*kept as /)
  expect(readTask(place, 2).status).toBe('pending')
})

it('errand board reports a folder that now belongs to another ledger, and still changes the board', async () => {
  await using place = new Workplace()
  await place.errand('board', 'init')
  writeFileSync(join(place.folder, '.tasks', '.errand', 'folder.json'), '{"ledger":"another","board":"main"}')
  const added = await place.errand('board', 'add', 'Set up')
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('#1: Set up') as string })
  expect(added.err).toMatch(/was not synchronized with the board: .*belongs to another ledger/)
})

it('errand board init adopts the files of a cloned folder, and errand board add continues their numbers', async () => {
  await using place = new Workplace()
  const value = { id: 3, subject: 'Write code', status: 'pending', taskId: 'task-elsewhere', version: 2 }
  mkdirSync(join(place.folder, '.tasks'))
  writeFileSync(fileOf(place, 3), JSON.stringify(value, null, 2))
  expect((await place.errand('board', 'init')).out).toContain('imported 1: task_3.json')
  expect((await place.errand('board', 'add', 'Ship')).out).toContain('#4: Ship')
})
