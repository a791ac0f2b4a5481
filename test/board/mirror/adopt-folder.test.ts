// The mirror of a folder whose files another ledger has written: a clone, a lost ledger, a folder in use.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TaskManager } from '../../../src/compat/s07.ts'
import { createEngine, mirrorBoard } from '../../../src/index.ts'
import { createFolder, filesIn, openWorld } from './world.ts'

/** A folder that a mirror has written: "Set up" is completed, and "Write code" comes after "Plan". */
async function writtenFolder() {
  const world = await openWorld()
  await world.add('Set up')
  await world.add('Plan')
  await world.add('Write code', { blockedBy: [2], tags: ['code'] })
  await world.call('board:update', { id: 1, status: 'completed' })
  const mirror = await world.open()
  await mirror.sync()
  await mirror.close()
  return world
}

/** Copies the task files, as git would: `.errand` is ignored. */
function clone(from: string): string {
  const to = createFolder()
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.errand') })
  return to
}

it('a board that never had a task adopts the files of a cloned folder, and its next number follows theirs', async () => {
  const original = await writtenFolder()
  const world = await openWorld(':memory:', clone(original.dir))
  const mirror = await world.open()
  const report = await mirror.sync()
  expect(report.imported).toEqual(['task_1.json', 'task_2.json', 'task_3.json'])
  expect([...report.skipped, ...report.refused, ...report.unheld]).toEqual([])
  expect(await world.task(1)).toMatchObject({ subject: 'Set up', status: 'completed', blocks: [] })
  expect(await world.task(3)).toMatchObject({ subject: 'Write code', blockedBy: [2], tags: ['code'] })
  expect(await world.add('Ship')).toBe(4)
  await mirror.sync()
  expect(world.read(3)).toMatchObject({ taskId: (await world.task(3)).taskId, version: 1 })
  // git restores an old text: it is still recognized.
  world.write(3, original.text(3))
  expect(await mirror.sync()).toMatchObject({ written: ['task_3.json'], skipped: [], refused: [] })
})

it('S4-005 the task manager of s07 lists the tasks of a cloned folder and continues their numbers', async () => {
  const dir = clone((await writtenFolder()).dir)
  await using manager = new TaskManager(dir, { ledger: join(createFolder(), 'ledger.db') })
  expect(await manager.list_all()).toBe('[x] #1: Set up\n[ ] #2: Plan\n[ ] #3: Write code (blocked by: [2])')
  expect(JSON.parse(await manager.create('Ship'))).toMatchObject({ id: 4 })
})

it('a board with tasks leaves the files of another ledger unchanged, and gives no task their numbers', async () => {
  const world = await openWorld(':memory:', clone((await writtenFolder()).dir))
  const before = world.text(3)
  await world.add('ours')
  const mirror = await world.open()
  const { skipped, imported } = await mirror.sync()
  expect(imported).toEqual([])
  expect(skipped.map(({ file }) => file)).toEqual(['task_1.json', 'task_2.json', 'task_3.json'])
  expect(skipped[2]?.why).toMatch(/another ledger .*only a board that never had a task/)
  expect(await world.add('ours too')).toBe(4)
  expect(world.text(3)).toBe(before)
  // As the report says: without the keys of the other ledger, and with a new number, the file becomes a task.
  const { taskId: _taskId, version: _version, ...value } = world.read(3)
  world.write(9, { ...value, id: 9, blockedBy: [] })
  expect((await mirror.sync()).imported).toEqual(['task_9.json'])
})

/** Mirrors a folder with an engine on a ledger in a file, as one command does. */
async function mirrorOnce(ledger: string, dir: string, subject?: string) {
  await using engine = await createEngine({ ledger, work: false })
  if (subject !== undefined) await engine.bus.call('board:create', { subject })
  await using mirror = await mirrorBoard(engine, { dir, watch: false })
  return await mirror.sync()
}

it('a folder of a lost ledger is refused, and adopted by another one after its .errand was removed, as the error says', async () => {
  const dir = createFolder()
  const files = filesIn(dir)
  const [one, other] = [join(createFolder(), 'ledger.db'), join(createFolder(), 'ledger.db')]
  await mirrorOnce(one, dir, 'Set up')
  await expect(mirrorOnce(other, dir)).rejects.toMatchObject({
    code: 'KEY_CONFLICT',
    message: expect.stringMatching(/belongs to another ledger.*remove its \.errand/s) as string,
  })
  rmSync(files.at('.errand'), { recursive: true })
  expect((await mirrorOnce(other, dir)).imported).toEqual(['task_1.json'])
  expect(files.read(1)).toMatchObject({ subject: 'Set up' })
})
